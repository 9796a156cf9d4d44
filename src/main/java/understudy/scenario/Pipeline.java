package understudy.scenario;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import understudy.cluster.lockstep.EarlierStages;
import understudy.latency.BatchShape;
import understudy.latency.LatencyModel;
import understudy.latency.LlmSpec;
import understudy.latency.Share;
import understudy.settings.Section;

/**
 * Time of a step in the stages of a pipeline, which share the layers; one stage is no pipeline.
 *
 * @param earlier the stages before the last one
 * @param last the last stage, which has the head
 */
record Pipeline(EarlierStages earlier, LatencyModel last) {
    private static final int ELEMENT_BYTES = 2;

    /** Hidden states and residual (vLLM {@code IntermediateTensors}). */
    private static final int NUM_TENSORS_SENT = 2;

    /** Cuts a device that knows no layers into equal parts. */
    static Pipeline shared(LatencyModel whole, Deployment deployment) {
        int size = deployment.pipelineParallelSize();
        LatencyModel part = batch -> LatencyModel.roundToNanos(whole.stepNanos(batch) / (double) size);
        return size == 1
                ? new Pipeline(EarlierStages.NONE, whole)
                : new Pipeline(new EarlierStages(size - 1, part), part);
    }

    /** Cuts a model of layers, of whose parts {@code latency} tells the time. */
    static Pipeline of(Function<LlmSpec, LatencyModel> latency, Section section, Deployment deployment) {
        int size = deployment.pipelineParallelSize();
        var stage = Deployment.llm(section, deployment).stage(size);
        var last = latency.apply(stage);
        return size == 1
                ? new Pipeline(EarlierStages.NONE, last)
                : new Pipeline(
                        new EarlierStages(size - 1, sending(latency.apply(stage.withoutHead()), section, deployment)),
                        last);
    }

    /** Adds the way to the next stage: each GPU sends its part to one of the next, as fast as in an all-reduce. */
    private static LatencyModel sending(LatencyModel stage, Section section, Deployment deployment) {
        var link = Deployment.gpu(section, deployment).spec().allReduce();
        double bytesPerToken = (double) NUM_TENSORS_SENT
                * ELEMENT_BYTES
                * Deployment.llm(section, deployment).hiddenSize()
                / deployment.tensorParallelSize();
        return batch -> stage.stepNanos(batch)
                + Math.round(link.overheadMicros() * 1e3 + bytesPerToken * batch.numTokens() / link.busGbPerSecond());
    }

    /** Returns how long a step takes from the first stage to the last. */
    LatencyModel whole() {
        return earlier.count() == 0 ? last : new Whole(this);
    }

    private record Whole(Pipeline pipeline) implements LatencyModel {

        @Override
        public long stepNanos(BatchShape batch) {
            return earlierNanos(batch) + pipeline.last.stepNanos(batch);
        }

        private long earlierNanos(BatchShape batch) {
            return pipeline.earlier.count() * pipeline.earlier.latency().stepNanos(batch);
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
