package understudy.api.model;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.settings.Section;

/** The keys of the section {@code server} that make the model a pooling model. */
public final class PoolingModelSettings {
    private static final String TASK = "task";
    private static final String GENERATE = "generate";
    private static final int MAX_SIZE = 65_536;

    private PoolingModelSettings() {}

    /**
     * Reads them; null if the model generates.
     *
     * @param hiddenSize length of an embedding of the model
     */
    public static @Nullable PoolingSettings read(Section server, int hiddenSize) {
        var names = new ArrayList<>(List.of(GENERATE));
        for (var task : PoolingSettings.Task.values()) {
            names.add(Section.nameOf(task));
        }
        var size = server.numberOrAuto("embedding-size", 1, MAX_SIZE);
        int numLabels = server.wholeNumber("num-labels", 1, MAX_SIZE);
        if (server.choice(TASK, names).equals(GENERATE)) {
            return null;
        }
        return new PoolingSettings(server.choice(TASK, PoolingSettings.Task.class), size.orElse(hiddenSize), numLabels);
    }
}
