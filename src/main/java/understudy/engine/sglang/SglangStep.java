package understudy.engine.sglang;

import org.jspecify.annotations.Nullable;
import understudy.engine.StepPlan;

/** Plan of a step of SGLang's engine: one batch. */
public final class SglangStep extends StepPlan {
    @Nullable SglangBatch batch;

    SglangStep() {}

    @Override
    public void begin(long stepNumber) {
        super.begin(stepNumber);
        batch = null;
    }
}
