package understudy.app.flags;

import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import understudy.latency.LlmSpec;
import understudy.latency.Parallelism;
import understudy.scenario.LlmFile;
import understudy.scenario.SpecFiles;

/**
 * Model that a server is told to serve: whether it has a tokenizer, and its timing, which is that of its {@code config.json} if
 * it is a folder with one, else that of the bundled model of the same name, whose weights have the format that the end of
 * the name says; failing both, that of the bundled model which is nearest to the size in the name.
 */
public final class ServedModel {
    private static final String LLM = "latency.llm";
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
     * @param model model as the command line names it
     * @param names under which it is served, which may say more than a path
     * @param parallelism of the GPUs, which cannot share every model
     * @return whether the model is known
     */
    public static boolean put(
            String model,
            List<String> names,
            Parallelism parallelism,
            Map<String, String> settings,
            List<String> warnings) {
        if (hasConfig(model)) {
            settings.put(LLM, model);
            return true;
        }
        var written = Stream.concat(Stream.of(model), names.stream()).toList();
        var found = first(written, ServedModel::timing);
        if (found.isPresent()) {
            settings.putAll(found.get());
            return true;
        }
        var nearest = first(written, name -> nearest(name, parallelism));
        nearest.ifPresent(settings::putAll);
        warnings.add(model + " is not a known model: it is served under its name, with the timing of "
                + nearest.map(timing -> timing.get(LLM) + ", the nearest of its size")
                        .orElse("latency.llm")
                + "; see 'understudy models', or set UNDERSTUDY_LATENCY_LLM to a name or a config.json");
        return false;
    }

    private static Optional<Map<String, String>> first(
            List<String> names, Function<String, Optional<Map<String, String>>> timing) {
        return names.stream().map(timing).flatMap(Optional::stream).findFirst();
    }

    /**
     * Returns the timing of the bundled model that is nearest to the size in a name, or that the name begins with; weights
     * are as the name ends. A model with linear attention stands for none but its own kind.
     */
    private static Optional<Map<String, String>> nearest(String written, Parallelism parallelism) {
        String name = plain(written);
        return ModelSize.of(name)
                .flatMap(size -> SpecFiles.MODELS.all().stream()
                        .map(file -> LlmFile.read(file).spec())
                        .filter(parallelism::canShare)
                        .filter(llm -> isVariant(name, llm.name())
                                || (llm.linearAttention() == null && Double.isFinite(size.distance(llm))))
                        .min(Comparator.comparing((LlmSpec llm) -> !isVariant(name, llm.name()))
                                .thenComparingDouble(size::distance))
                        .map(llm -> timing(llm.name(), format(name).orElse(""))));
    }

    private static boolean hasConfig(String model) {
        return isFile(model, "config.json");
    }

    /** Returns whether a path has a tokenizer: as a folder with a {@code tokenizer.json}, or as that file. */
    public static boolean hasTokenizer(String path) {
        return isFile(path, "tokenizer.json") || (path.endsWith(".json") && isFile(path, ""));
    }

    private static boolean isFile(String folder, String name) {
        try {
            return Files.isRegularFile(Path.of(folder, name));
        } catch (InvalidPathException e) {
            return false;
        }
    }

    /** A name without a size, such as phi-4, begins those of models of other sizes, too. */
    private static boolean isVariant(String name, String bundled) {
        String last = name.substring(name.lastIndexOf('/') + 1).toLowerCase(Locale.ROOT);
        return last.startsWith(bundled + "-") && ModelSize.of(bundled).isPresent();
    }

    private static String plain(String written) {
        String path = LAST_SLASHES.matcher(written).replaceFirst("");
        var cached = CACHED.matcher(path);
        return cached.matches() ? cached.group("name") : path;
    }

    private static Optional<String> format(String name) {
        var quantized = QUANTIZED.matcher(name);
        return quantized.matches() ? Optional.of(quantized.group("format")) : Optional.empty();
    }

    private static Optional<Map<String, String>> timing(String written) {
        String name = plain(written);
        var exact = bundled(name);
        if (exact.isPresent()) {
            return exact.map(found -> Map.of(LLM, found));
        }
        var quantized = QUANTIZED.matcher(name);
        return quantized.matches()
                ? bundled(quantized.group("base")).map(found -> timing(found, quantized.group("format")))
                : Optional.empty();
    }

    private static Map<String, String> timing(String bundled, String format) {
        var settings = new LinkedHashMap<String, String>();
        settings.put(LLM, bundled);
        settings.put("latency.dtype", dtype(format).orElse("auto"));
        return settings;
    }

    private static Optional<String> bundled(String name) {
        return SpecFiles.MODELS.find(name).map(file -> file.text("name"));
    }

    /** Returns the value of {@code latency.dtype} for a name that vLLM or SGLang has for a quantization. */
    public static Optional<String> dtype(String quantization) {
        return Optional.ofNullable(
                switch (quantization.toLowerCase(Locale.ROOT)) {
                    case "fp8",
                            "fbgemm_fp8",
                            "modelopt",
                            "modelopt_fp8",
                            "w8a8",
                            "w8a8_fp8",
                            "w8a8_int8",
                            "experts_int8" -> "fp8";
                    case "awq", "awq_marlin", "gptq", "gptq_marlin", "w4a16", "int4" -> "int4";
                    case "nvfp4", "fp4", "modelopt_fp4" -> "nvfp4";
                    case "mxfp4" -> "mxfp4";
                    default -> null;
                });
    }

    /** Returns the name of both engines for a format of weights that is a quantization, or nothing. */
    public static @Nullable String quantization(String dtype) {
        return switch (dtype) {
            case "fp8", "mxfp4" -> dtype;
            case "int4" -> "awq";
            case "nvfp4" -> "modelopt_fp4";
            default -> null;
        };
    }
}
