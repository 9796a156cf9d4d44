package understudy.latency.kind;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import understudy.latency.BatchShape;
import understudy.latency.LatencyModel;
import understudy.latency.LlmSpec;
import understudy.latency.Share;
import understudy.settings.Section;

/**
 * Time of a step in the stages of a pipeline, which share the layers; one stage is no pipeline.
 *
 * @param numEarlier stages before the last one
 * @param earlier how long a step takes in each of them, and on its way to the next
 * @param last the last stage, which has the head
 */
public record Pipeline(int numEarlier, LatencyModel earlier, LatencyModel last) {
    private static final int ELEMENT_BYTES = 2;

    /** Hidden states and residual (vLLM {@code IntermediateTensors}). */
    private static final int NUM_TENSORS_SENT = 2;

    /** Cuts a device that knows no layers into equal parts. */
    static Pipeline shared(LatencyModel whole, int size) {
        LatencyModel part = batch -> LatencyModel.roundToNanos(whole.stepNanos(batch) / (double) size);
        return size == 1 ? single(whole) : new Pipeline(size - 1, part, part);
    }

    /** Cuts a model of layers, of whose parts {@code latency} tells the time. */
    static Pipeline of(Function<LlmSpec, LatencyModel> latency, Section section, Device device) {
        int size = device.numStages();
        var stage = device.llm(section).stage(size);
        var last = latency.apply(stage);
        return size == 1
                ? single(last)
                : new Pipeline(size - 1, sending(latency.apply(stage.withoutHead()), section, device), last);
    }

    private static Pipeline single(LatencyModel stage) {
        return new Pipeline(0, batch -> 0, stage);
    }

    /** Adds the way to the next stage: each GPU sends its part to one of the next, as fast as in an all-reduce. */
    private static LatencyModel sending(LatencyModel stage, Section section, Device device) {
        var link = device.gpu(section).spec().allReduce();
        double bytesPerToken = (double) NUM_TENSORS_SENT
                * ELEMENT_BYTES
                * device.llm(section).hiddenSize()
                / device.parallelism().tensorParallelSize();
        return batch -> stage.stepNanos(batch)
                + Math.round(link.overheadMicros() * 1e3 + bytesPerToken * batch.numTokens() / link.busGbPerSecond());
    }

    /** Returns how long a step takes from the first stage to the last. */
    LatencyModel whole() {
        return numEarlier == 0 ? last : new Whole(this);
    }

    private record Whole(Pipeline pipeline) implements LatencyModel {

        @Override
        public long stepNanos(BatchShape batch) {
            return earlierNanos(batch) + pipeline.last.stepNanos(batch);
        }

        private long earlierNanos(BatchShape batch) {
            return pipeline.numEarlier * pipeline.earlier.stepNanos(batch);
        }

        @Override
        public List<Share> explain(BatchShape batch) {
            var shares = new ArrayList<Share>();
            shares.add(new Share("earlier stages", earlierNanos(batch)));
            shares.addAll(pipeline.last.explain(batch));
            return shares;
        }

        @Override
        public List<String> sources() {
            return pipeline.last.sources();
        }

        @Override
        public List<String> warnings(int maxTokens, int maxSequences, int maxContext) {
            return pipeline.last.warnings(maxTokens, maxSequences, maxContext);
        }
    }
}
