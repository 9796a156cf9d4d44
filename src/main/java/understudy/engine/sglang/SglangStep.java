package understudy.engine.sglang;

import org.jspecify.annotations.Nullable;
import understudy.engine.StepPlan;

/** Plan of a step of SGLang's engine: one batch. */
public final class SglangStep extends StepPlan {
    @Nullable SglangBatch batch;

    SglangStep() {}

    /** Fixes how long the copies from the host take while the batch runs, which waits for each layer's. */
    void setLoadNanos(long nanos) {
        batch().setLoadNanos(nanos);
    }

    @Override
    public boolean isPrefill() {
        return batch != null && batch.mode() != SglangBatch.Mode.DECODE;
    }

    @Override
    public void begin(long stepNumber) {
        super.begin(stepNumber);
        batch = null;
    }
}
