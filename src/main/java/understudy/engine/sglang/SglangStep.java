package understudy.engine.sglang;

import org.jspecify.annotations.Nullable;
import understudy.engine.StepPlan;

/** Plan of a step of SGLang's engine: one batch. */
public final class SglangStep extends StepPlan {
    @Nullable SglangBatch batch;

    SglangStep() {}

    /** Fixes how many tokens are copied from the host while the batch runs, which waits for each layer's. */
    void setLoadedTokens(int count) {
        batch().setLoadedTokens(count);
    }

    @Override
    public void begin(long stepNumber) {
        super.begin(stepNumber);
        batch = null;
    }
}
