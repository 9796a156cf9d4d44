package understudy.app.vllm;

import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import understudy.scenario.SpecFiles;

/**
 * Model that vLLM is told to serve: whether it has a tokenizer, and its timing, which is that of its {@code config.json} if
 * it is a folder with one, else that of the bundled model of the same name, whose weights have the format that the end of
 * the name says.
 */
final class ServedModel {
    private static final Pattern QUANTIZED = Pattern.compile(
            "(?<base>.+?)[-_.](?<format>fp8|w8a8|nvfp4|fp4|awq|gptq|w4a16|int4|mxfp4)(?:[-_.](?:dynamic|block|int4|int8|fp8))*",
            Pattern.CASE_INSENSITIVE);
    private static final Pattern LAST_SLASHES = Pattern.compile("/+$");

    /** A folder of Hugging Face's cache, or a snapshot in it. */
    private static final Pattern CACHED =
            Pattern.compile("(?:.*/)?models--[^/]+?--(?<name>[^/]+)(?:/snapshots/[^/]+)?");

    private ServedModel() {}

    /**
     * Puts the timing's settings.
     *
     * @param model what vLLM is told to load
     * @param names under which it is served, which may say more than a path
     */
    static void put(String model, List<String> names, Map<String, String> settings, List<String> warnings) {
        if (hasConfig(model)) {
            settings.put("latency.llm", model);
            return;
        }
        var found = timing(model)
                .or(() -> names.stream()
                        .map(ServedModel::timing)
                        .flatMap(Optional::stream)
                        .findFirst());
        if (found.isPresent()) {
            settings.putAll(found.get());
        } else {
            warnings.add(
                    model + " is not a known model: it is served under its name, with the timing of latency.llm; see"
                            + " 'understudy models', or set UNDERSTUDY_LATENCY_LLM to a name or a config.json");
        }
    }

    private static boolean hasConfig(String model) {
        return isFile(model, "config.json");
    }

    /** Returns whether a path has a tokenizer: as a folder with a {@code tokenizer.json}, or as that file. */
    static boolean hasTokenizer(String path) {
        return isFile(path, "tokenizer.json") || (path.endsWith(".json") && isFile(path, ""));
    }

    private static boolean isFile(String folder, String name) {
        try {
            return Files.isRegularFile(Path.of(folder, name));
        } catch (InvalidPathException e) {
            return false;
        }
    }

    private static Optional<Map<String, String>> timing(String written) {
        String path = LAST_SLASHES.matcher(written).replaceFirst("");
        var cached = CACHED.matcher(path);
        String name = cached.matches() ? cached.group("name") : path;
        var exact = bundled(name);
        if (exact.isPresent()) {
            return exact.map(found -> Map.of("latency.llm", found));
        }
        var quantized = QUANTIZED.matcher(name);
        return quantized.matches()
                ? bundled(quantized.group("base")).map(found -> timing(found, quantized.group("format")))
                : Optional.empty();
    }

    private static Map<String, String> timing(String bundled, String format) {
        var settings = new LinkedHashMap<String, String>();
        settings.put("latency.llm", bundled);
        settings.put("latency.dtype", dtype(format).orElse("auto"));
        return settings;
    }

    private static Optional<String> bundled(String name) {
        return SpecFiles.MODELS.find(name).map(file -> file.text("name"));
    }

    /** Returns the value of {@code latency.dtype} for a name that vLLM has for a quantization. */
    static Optional<String> dtype(String quantization) {
        return Optional.ofNullable(
                switch (quantization.toLowerCase(Locale.ROOT)) {
                    case "fp8", "fbgemm_fp8", "modelopt", "w8a8", "experts_int8" -> "fp8";
                    case "awq", "awq_marlin", "gptq", "gptq_marlin", "w4a16", "int4" -> "int4";
                    case "nvfp4", "fp4", "modelopt_fp4" -> "nvfp4";
                    case "mxfp4" -> "mxfp4";
                    default -> null;
                });
    }
}
