package understudy.latency;

import java.util.List;
import java.util.Locale;

/**
 * Way in which engines of a family run their steps: what decides a step's time beside model and GPU.
 *
 * @param engine name of the engine, for people
 * @param kernels folder of its measured kernels in AIConfigurator's database
 * @param graphs its CUDA graphs
 * @param launchMicrosPerLayer time in which the host launches the kernels of a layer that are in no graph; a step waits
 *     for its host or its GPU, whichever is slower
 * @param hostMicrosPerStep time of all other work of the host for a step
 * @param hidesHost whether it does that while the GPU computes another one
 * @param fusesSharedExperts whether an expert that computes every token is one more of those that are chosen
 */
public record StepExecution(
        String engine,
        String kernels,
        CudaGraphs graphs,
        double launchMicrosPerLayer,
        double hostMicrosPerStep,
        boolean hidesHost,
        boolean fusesSharedExperts) {
    /** vLLM's: what its host does for a sequence adds to a step, and compiled prefills are launched as fast as they run. */
    public static final StepExecution VLLM = new StepExecution("vLLM", "vllm", CudaGraphs.VLLM, 0, 0, false, false);

    /** Returns the least time of a step in which the host launches the kernels of so many layers. */
    double launchMicros(BatchShape batch, int numLayers) {
        return graphs.cover(batch, batch.numTokens()) ? 0 : numLayers * launchMicrosPerLayer;
    }

    /** Returns the differences from vLLM's way, a line each. */
    public List<String> sources() {
        return equals(VLLM)
                ? List.of()
                : List.of(String.format(
                        Locale.ROOT,
                        "%s: %s; other steps take at least %.0f us for each layer; %.0f us of the host in every step, %s",
                        engine,
                        graphs,
                        launchMicrosPerLayer,
                        hostMicrosPerStep,
                        hidesHost ? "hidden behind the GPU's" : "before the GPU's"));
    }
}
