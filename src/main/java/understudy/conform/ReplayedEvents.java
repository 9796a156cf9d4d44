package understudy.conform;

import java.util.ArrayList;
import java.util.List;
import understudy.kvcache.KvCache;

/** KV events of a replay by step: those of a step are published with the result that is applied in it. */
final class ReplayedEvents {
    private final List<List<Object>> bySteps = new ArrayList<>();
    private final KvCache memory;
    private final int blockSize;
    private final boolean isOn;

    ReplayedEvents(RecordedRun run, KvCache memory) {
        this.memory = memory;
        blockSize = run.config().blockSize();
        isOn = run.kvEvents() != null;
        for (int i = 0; isOn && i < run.numSteps(); i++) {
            bySteps.add(List.of());
        }
    }

    /** Takes the changes up to the end of a step; steps behind the recording are passed over. */
    void take(int step) {
        if (isOn && step < bySteps.size()) {
            bySteps.set(step, KvEventFields.of(memory.drainEvents(), blockSize));
        }
    }

    List<List<Object>> bySteps() {
        return bySteps;
    }
}
