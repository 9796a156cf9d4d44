package understudy.scenario;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import understudy.latency.KernelTable;
import understudy.latency.KernelTables;
import understudy.settings.Section;
import understudy.workload.trace.CsvTable;

/**
 * Reads kernel times in the form of LLMServingSim's profiles: {@code NAME_dense.csv} (layer, tokens, time_us), {@code
 * NAME_attention.csv} (prefill_chunk, kv_prefill, n_decode, kv_decode, time_us), {@code NAME_per_sequence.csv} (layer,
 * sequences, time_us) and, for a mixture of experts, {@code NAME_moe.csv} (tokens, activated_experts, time_us).
 */
final class KernelFiles {
    private static final String KEY = "tables";
    private static final String TIME = "time_us";
    private static final String DENSE = "_dense.csv";
    private static final String ATTENTION = "_attention.csv";
    private static final String PER_SEQUENCE = "_per_sequence.csv";
    private static final String EXPERTS = "_moe.csv";

    private KernelFiles() {}

    /** Reads the files whose common beginning, or any of which, {@code profiled.tables} names. */
    static KernelTables read(Section profiled) {
        String name = profiled.text(KEY);
        if (name.isEmpty()) {
            throw profiled.unusable(KEY, "but this latency model needs files: --set latency.profiled.tables=PATH/NAME");
        }
        for (String suffix : List.of(DENSE, ATTENTION, PER_SEQUENCE, EXPERTS)) {
            name = name.endsWith(suffix) ? name.substring(0, name.length() - suffix.length()) : name;
        }
        for (String suffix : List.of(DENSE, ATTENTION, PER_SEQUENCE)) {
            if (!Files.isRegularFile(Path.of(name + suffix))) {
                throw profiled.unusable(KEY, "but there is no file " + name + suffix);
            }
        }
        var attention =
                table(Path.of(name + ATTENTION), List.of("prefill_chunk", "kv_prefill", "n_decode", "kv_decode"));
        if (attention == null) {
            throw profiled.unusable(KEY, "but " + name + ATTENTION + " has no rows");
        }
        return new KernelTables(
                byLayer(Path.of(name + DENSE), "tokens"),
                attention,
                byLayer(Path.of(name + PER_SEQUENCE), "sequences"),
                table(Path.of(name + EXPERTS), List.of("tokens", "activated_experts")));
    }

    private static Map<String, KernelTable> byLayer(Path file, String number) {
        var builders = new LinkedHashMap<String, KernelTable.Builder>();
        try (var csv = new CsvTable(file)) {
            while (csv.next(List.of("layer", number, TIME))) {
                builders.computeIfAbsent(csv.text("layer"), layer -> new KernelTable.Builder())
                        .add(csv.positive(TIME), csv.wholeNumber(number, 1));
            }
        }
        var tables = new LinkedHashMap<String, KernelTable>();
        builders.forEach((layer, builder) -> tables.put(layer, builder.build()));
        return tables;
    }

    private static @Nullable KernelTable table(Path file, List<String> numbers) {
        if (!Files.isRegularFile(file)) {
            return null;
        }
        var required = new ArrayList<>(numbers);
        required.add(TIME);
        var builder = new KernelTable.Builder();
        try (var csv = new CsvTable(file)) {
            while (csv.next(required)) {
                int[] point = numbers.stream()
                        .mapToInt(number -> csv.wholeNumber(number, 0))
                        .toArray();
                builder.add(csv.positive(TIME), point);
            }
        }
        return builder.isEmpty() ? null : builder.build();
    }
}
