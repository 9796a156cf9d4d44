package understudy.latency;

import java.util.List;
import java.util.Locale;

/**
 * Way in which engines of a family run their steps: what decides a step's time beside model and GPU.
 *
 * @param engine name of the engine, for people
 * @param kernels folder of its measured kernels in AIConfigurator's database
 * @param graphs its CUDA graphs
 * @param launchMicrosPerKernel time in which the host launches a kernel that is in no graph; a step waits for its host or its
 *     GPU, whichever is slower
 * @param hostMicrosPerStep time of all other work of the host for a step
 * @param hidesHost whether it does that while the GPU computes another one
 * @param fusesSharedExperts whether an expert that computes every token is one more of those that are chosen
 */
public record StepExecution(
        String engine,
        String kernels,
        CudaGraphs graphs,
        double launchMicrosPerKernel,
        double hostMicrosPerStep,
        boolean hidesHost,
        boolean fusesSharedExperts) {
    /** vLLM's: what its host does for a sequence adds to a step, and compiled prefills are launched as fast as they run. */
    public static final StepExecution VLLM = new StepExecution("vLLM", "vllm", CudaGraphs.VLLM, 0, 0, false, false);

    /** Returns the least time of a step, in which the host launches its kernels. */
    double launchMicros(BatchShape batch, LaunchedKernels kernels) {
        return graphs.cover(batch, batch.numTokens()) ? 0 : kernels.count(batch) * launchMicrosPerKernel;
    }

    /** Returns whether a model's shared expert, as large as others, is one of them: where each GPU has a part of all. */
    public boolean fusesSharedExperts(LlmSpec llm, Parallelism parallelism) {
        var ffn = llm.feedForward();
        return fusesSharedExperts
                && ffn.sharedExpertSize() == ffn.expertSize()
                && (parallelism.hasOneGpu() || !parallelism.enablesExpertParallel());
    }

    /** Returns the differences from vLLM's way, a line each. */
    public List<String> sources() {
        return equals(VLLM)
                ? List.of()
                : List.of(String.format(
                        Locale.ROOT,
                        "%s: %s; other steps take at least %.1f us for each kernel; %.0f us of the host in every step, %s",
                        engine,
                        graphs,
                        launchMicrosPerKernel,
                        hostMicrosPerStep,
                        hidesHost ? "hidden behind the GPU's" : "before the GPU's"));
    }
}
