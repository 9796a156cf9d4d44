package understudy.engine.vllm;

import java.util.List;
import java.util.OptionalInt;
import understudy.engine.EngineSizes;
import understudy.engine.Hardware;
import understudy.engine.PerformanceMode;
import understudy.latency.CudaGraphs;
import understudy.latency.StepExecution;
import understudy.settings.Section;

/**
 * The keys of the section {@code engine} that say which steps run as CUDA graphs, and what it takes to launch the kernels
 * of others.
 */
final class VllmExecution {
    private static final String MODE = "cudagraph-mode";
    private static final String SIZES = "cudagraph-capture-sizes";
    private static final String MAX_SIZE = "max-cudagraph-capture-size";
    private static final String LAUNCH = "launch-per-kernel";
    private static final int USUAL_MAX_SIZE = 512;
    private static final int MAX_TOKENS = 32_768;
    private static final double NANOS_PER_MICRO = 1e3;

    private VllmExecution() {}

    static StepExecution read(Section engine, Hardware hardware) {
        double launchMicros = engine.text(LAUNCH).equals("auto")
                ? hardware.launchMicrosPerKernel()
                : engine.nanos(LAUNCH) / NANOS_PER_MICRO;
        var vllm = StepExecution.VLLM;
        return new StepExecution(
                vllm.engine(),
                vllm.kernels(),
                graphs(engine, hardware),
                launchMicros,
                vllm.hostMicrosPerStep(),
                vllm.hidesHost(),
                vllm.fusesSharedExperts());
    }

    private static CudaGraphs graphs(Section engine, Hardware hardware) {
        var mode = engine.choice(MODE, CudaGraphs.Mode.class);
        var given = sizes(engine);
        var maxSize = engine.numberOrAuto(MAX_SIZE, 1, MAX_TOKENS);
        if (given.isEmpty()) {
            int max = maxSize.orElseGet(() -> Math.min(2 * EngineSizes.maxNumSeqs(engine, hardware), USUAL_MAX_SIZE));
            return EngineSizes.mode(engine) == PerformanceMode.INTERACTIVITY
                    ? CudaGraphs.finelyUpTo(max, mode)
                    : CudaGraphs.upTo(max, mode);
        }
        if (maxSize.isPresent() && !maxSize.equals(max(given))) {
            throw engine.unusable(MAX_SIZE, "but the largest of cudagraph-capture-sizes is another");
        }
        return CudaGraphs.ofSizes(given.stream().mapToInt(Integer::intValue), mode);
    }

    private static OptionalInt max(List<Integer> sizes) {
        return sizes.stream().mapToInt(Integer::intValue).max();
    }

    private static List<Integer> sizes(Section engine) {
        return engine.texts(SIZES).stream().map(size -> size(engine, size)).toList();
    }

    private static int size(Section engine, String text) {
        int size = text.matches("[0-9]{1,5}") ? Integer.parseInt(text) : 0;
        if (size < 1 || size > MAX_TOKENS) {
            throw engine.unusable(SIZES, "must be whole numbers from 1 to " + MAX_TOKENS + "; one is '" + text + "'");
        }
        return size;
    }
}
