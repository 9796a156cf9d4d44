package understudy.app.flags;

import java.io.File;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import understudy.latency.Parallelism;

/**
 * Flags that the command lines of all engines have, whose value is no setting as it is.
 *
 * @param environment variables of the process
 * @param settings by key, to which theirs are added
 * @param warnings what has no effect, and assumptions, a line each, to which theirs are added
 */
public record ServerFlags(
        FlagArguments arguments, Map<String, String> environment, Map<String, String> settings, List<String> warnings) {
    private static final String CHAT_TEMPLATE = "chat-template";
    private static final Set<String> SIXTEEN_BITS = Set.of("auto", "half", "float16", "bfloat16");

    /** Puts the format of the weights, as a quantization is named. */
    public void putQuantization() {
        arguments
                .last("quantization")
                .ifPresent(value -> ServedModel.dtype(value)
                        .ifPresentOrElse(
                                dtype -> settings.put("latency.dtype", dtype),
                                () -> warnNoEffect("quantization", value)));
    }

    /** Puts the format in which the model computes; returns whether there is such a one. */
    public boolean putDtype(String name) {
        String dtype = name.toLowerCase(Locale.ROOT);
        if (dtype.equals("float") || dtype.equals("float32")) {
            settings.put("latency.dtype", "fp32");
            return true;
        }
        return SIXTEEN_BITS.contains(dtype);
    }

    /**
     * Puts the timing of a model; one that is not known has that of the model that the environment names.
     *
     * @param names under which it is served
     * @return whether the model is known
     */
    public boolean putTiming(String model, List<String> names) {
        var timing = new LinkedHashMap<String, String>();
        boolean isKnown = ServedModel.put(model, names, parallelism(), timing, warnings);
        if (isKnown || !environment.containsKey("UNDERSTUDY_LATENCY_LLM")) {
            settings.putAll(timing);
        }
        return isKnown;
    }

    private Parallelism parallelism() {
        boolean isShared =
                settings.getOrDefault("latency.enable-expert-parallel", "").equals("true");
        return new Parallelism(
                size("latency.tensor-parallel-size"),
                size("latency.data-parallel-size"),
                isShared,
                Parallelism.All2AllBackend.ALLGATHER_REDUCESCATTER);
    }

    /** Returns a setting as a number, or 1; a value that is no number is refused where the setting is read. */
    public int size(String setting) {
        String value = settings.getOrDefault(setting, "1");
        return value.matches("[1-9]\\d{0,6}") ? Integer.parseInt(value) : 1;
    }

    /**
     * Puts the tokenizer. It is read from files alone; without one, prompts have the tokens of server.tokenizer as it is.
     *
     * @param flag that names a tokenizer other than the model's
     */
    public void putTokenizer(String flag, String model) {
        if (arguments.isOn("skip-tokenizer-init")) {
            return;
        }
        var asked = arguments.given(flag);
        String path = asked.orElse(model);
        if (ServedModel.hasTokenizer(path)) {
            settings.put("server.tokenizer", path);
        } else {
            asked.ifPresent(given -> warnNoEffect(flag, given));
        }
    }

    /** Puts the chat template. Those that come with an engine's image are not here, and no reason not to start. */
    public void putChatTemplate() {
        arguments.given(CHAT_TEMPLATE).ifPresent(value -> {
            if (value.contains("{") || new File(value).isFile()) {
                settings.put("server.chat-template", value);
            } else {
                warnNoEffect(CHAT_TEMPLATE, value);
            }
        });
    }

    /** Puts a value if it is one of those that are known here. */
    public void putIfKnown(String flag, Set<String> known, String setting) {
        arguments.given(flag).ifPresent(value -> {
            if (known.contains(value)) {
                settings.put(setting, value);
            } else {
                warnNoEffect(flag, value);
            }
        });
    }

    /** Says that a value changes nothing. */
    public void warnNoEffect(String flag, String value) {
        warnings.add("--" + flag + " " + value + " has no effect here");
    }
}
