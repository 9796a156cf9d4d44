package understudy.latency.kind;

import org.jspecify.annotations.Nullable;
import understudy.latency.GpuSpec;
import understudy.latency.LlmSpec;
import understudy.latency.Parallelism;
import understudy.latency.ProfileLatency;
import understudy.settings.Section;

/**
 * Model and GPUs of a replica, as far as the time of a step follows from them; a section names both, or neither.
 *
 * @param parallelism how a replica's GPUs, and other replicas, share the model
 * @param numStages stages of a replica's pipeline, at least 1
 * @param bytesPerKvElement of the KV cache
 */
public record Device(
        @Nullable LlmSpec llm, @Nullable Gpu gpu, Parallelism parallelism, int numStages, double bytesPerKvElement) {

    /**
     * One of the GPUs.
     *
     * @param profile the same device in five numbers; if all are 0 there are none
     * @param kernelTables its name in NVIDIA AIConfigurator's database, empty if it is not there
     */
    public record Gpu(GpuSpec spec, ProfileLatency profile, String kernelTables) {}

    /** Returns the model, which the section must name. */
    LlmSpec llm(Section latency) {
        if (llm == null) {
            throw latency.unusable("llm", "but this latency model needs a model: --set latency.llm=NAME");
        }
        return llm;
    }

    /** Returns the GPU, which the section must name. */
    Gpu gpu(Section latency) {
        if (gpu == null) {
            throw latency.unusable("gpu", "but this latency model needs a GPU: --set latency.gpu=NAME");
        }
        if (!gpu.spec.hasDataSheet()) {
            throw latency.unusable(
                    "gpu", "whose file lacks bf16-tflops or bandwidth-gb-per-s, which this latency model needs");
        }
        return gpu;
    }
}
