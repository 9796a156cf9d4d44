package understudy.scenario;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.api.model.PoolingSettings;
import understudy.settings.Section;

/** The keys of the section {@code server} that make the model a pooling model. */
final class PoolingModelSettings {
    private static final String TASK = "task";
    private static final String GENERATE = "generate";
    private static final int MAX_SIZE = 65_536;

    /** Hidden size of Llama-3.1-8B, whose dimensions all defaults have. */
    private static final int DEFAULT_SIZE = 4096;

    private PoolingModelSettings() {}

    static @Nullable PoolingSettings read(Scenario scenario, Section server) {
        var names = new ArrayList<>(List.of(GENERATE));
        for (var task : PoolingSettings.Task.values()) {
            names.add(Section.nameOf(task));
        }
        var size = server.numberOrAuto("embedding-size", 1, MAX_SIZE);
        int numLabels = server.wholeNumber("num-labels", 1, MAX_SIZE);
        if (server.choice(TASK, names).equals(GENERATE)) {
            return null;
        }
        var llm = scenario.groups().get(0).latency().deployment().llm();
        int hiddenSize = llm == null ? DEFAULT_SIZE : llm.spec().hiddenSize();
        return new PoolingSettings(server.choice(TASK, PoolingSettings.Task.class), size.orElse(hiddenSize), numLabels);
    }
}
