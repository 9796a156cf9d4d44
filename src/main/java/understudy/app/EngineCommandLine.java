package understudy.app;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import understudy.adopt.EngineFlags;
import understudy.adopt.EngineName;
import understudy.app.flags.Flag;
import understudy.app.sglang.SglangCommandLine;
import understudy.app.vllm.VllmSettings;
import understudy.app.vllm.VllmWords;
import understudy.json.Jackson;

/**
 * The command line of an engine, as adoption reads it.
 *
 * @param table of flags, by name
 * @param parser of words, that takes them apart
 * @param reader of words, that makes settings of them
 */
record EngineCommandLine(
        Function<String, Optional<Flag>> table,
        Function<List<String>, Map<String, List<String>>> parser,
        Function<List<String>, EngineFlags.Read> reader)
        implements EngineFlags {

    /** Returns the command line of an engine, without the environment of this process: it is another server's. */
    static EngineCommandLine of(EngineName engine) {
        return switch (engine) {
            case VLLM -> new EngineCommandLine(VllmSettings::flag, VllmSettings::flags, EngineCommandLine::ofVllm);
            case SGLANG ->
                new EngineCommandLine(SglangCommandLine::flag, SglangCommandLine::flags, EngineCommandLine::ofSglang);
        };
    }

    private static Read ofVllm(List<String> words) {
        var read = VllmSettings.of(words, Map.of());
        return new Read(read.settings(), read.warnings(), read.isGuessed());
    }

    private static Read ofSglang(List<String> words) {
        var read = SglangCommandLine.of(words, Map.of());
        return new Read(read.settings(), read.warnings(), read.isGuessed());
    }

    @Override
    public Optional<Known> flag(String name) {
        return table.apply(name.split("\\.", 2)[0])
                .map(flag -> new Known(form(flag.kind()), flag.setting().orElse(""), flag.hasEffect()));
    }

    @Override
    public Map<String, String> flags(String command) {
        var flags = new LinkedHashMap<String, String>();
        parser.apply(VllmWords.split(command))
                .forEach((name, values) -> flags.put(
                        name,
                        values.size() == 1
                                ? values.get(0)
                                : Jackson.mapper().valueToTree(values).toString()));
        return flags;
    }

    @Override
    public Read read(List<String> words) {
        return reader.apply(words);
    }

    private static Form form(Flag.Kind kind) {
        return switch (kind) {
            case SWITCH -> Form.SWITCH;
            case ON -> Form.ON;
            case LIST -> Form.LIST;
            case TEXT, SIZE, SECONDS, JSON -> Form.VALUE;
        };
    }
}
