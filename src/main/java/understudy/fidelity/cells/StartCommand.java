package understudy.fidelity.cells;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import understudy.settings.Hocon;
import understudy.settings.Section;

/**
 * Start command of a server of public measurements ({@code start-commands.conf}), which the rows of measurements do not
 * give.
 *
 * @param engine kind of its engine
 * @param models how the short names of its models begin, in lower case
 * @param gpus how the names of its GPUs begin
 * @param hasFp8Kv whether its KV cache is in FP8
 * @param settings what else it says, by the keys of scenarios
 */
record StartCommand(String engine, String models, Pattern gpus, boolean hasFp8Kv, Map<String, String> settings) {
    private static final String FP8_KV = "fp8-kv";
    private static final List<StartCommand> ALL =
            Hocon.resource("understudy/fidelity/cells/start-commands.conf").resolve().sections("commands").stream()
                    .map(StartCommand::read)
                    .toList();

    private static StartCommand read(Section command) {
        return new StartCommand(
                command.text("engine"),
                command.text("models"),
                Pattern.compile(command.text("gpus")),
                command.has(FP8_KV) && command.bool(FP8_KV),
                command.section("settings").values());
    }

    /** Returns those of a cell. */
    static List<StartCommand> of(String engine, MeasuredSetup setup) {
        String model = setup.shortModel().toLowerCase(Locale.ROOT);
        String gpu = setup.gpu().toLowerCase(Locale.ROOT);
        return ALL.stream()
                .filter(command -> command.engine.equals(engine)
                        && model.startsWith(command.models)
                        && command.gpus.matcher(gpu).lookingAt())
                .toList();
    }
}
