package understudy.api.metrics;

import io.prometheus.metrics.core.datapoints.CounterDataPoint;
import io.prometheus.metrics.core.metrics.Counter;
import java.util.stream.IntStream;
import understudy.engine.speculation.DraftCounts;

/** Metrics of speculative decoding, as vLLM has them where it is on ({@code vllm/v1/spec_decode/metrics.py}). */
final class DraftMetrics {
    private final Counter drafts;
    private final Counter draftTokens;
    private final Counter acceptedTokens;
    private final Counter acceptedPerPos;

    DraftMetrics(MetricFamilies make) {
        drafts = make.counter("spec_decode_num_drafts", "Number of verifications, of one request's drafts each.");
        draftTokens = make.counter("spec_decode_num_draft_tokens", "Number of drafts.");
        acceptedTokens = make.counter("spec_decode_num_accepted_tokens", "Number of accepted drafts.");
        acceptedPerPos = make.counter(
                "spec_decode_num_accepted_tokens_per_pos", "Number of accepted drafts by their place.", "position");
    }

    /** The series of a replica. */
    final class Series {
        private final CounterDataPoint draftsPoint;
        private final CounterDataPoint draftTokensPoint;
        private final CounterDataPoint acceptedTokensPoint;
        private final CounterDataPoint[] acceptedPerPosPoints;

        Series(String engine, String model, int numSpeculativeTokens) {
            draftsPoint = drafts.labelValues(engine, model);
            draftTokensPoint = draftTokens.labelValues(engine, model);
            acceptedTokensPoint = acceptedTokens.labelValues(engine, model);
            acceptedPerPosPoints = IntStream.range(0, numSpeculativeTokens)
                    .mapToObj(position -> acceptedPerPos.labelValues(engine, model, String.valueOf(position)))
                    .toArray(CounterDataPoint[]::new);
        }

        void on(DraftCounts counts) {
            draftsPoint.inc(counts.numDrafts());
            draftTokensPoint.inc(counts.numDraftTokens());
            acceptedTokensPoint.inc(counts.numAcceptedTokens());
            for (int i = 0; i < counts.numAcceptedTokensPerPos().size(); i++) {
                acceptedPerPosPoints[i].inc(counts.numAcceptedTokensPerPos().getLong(i));
            }
        }
    }
}
