package understudy.chaos.autoscaler;

import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import org.jspecify.annotations.Nullable;
import understudy.chaos.process.ShellProcess;

/**
 * An autoscaler that a command of the shell starts. In the command, and in a file that is filled in for it, these stand
 * for what it is told: {@code {scale}}, {@code {targets}} and {@code {metrics}} for addresses, {@code {min}} and {@code
 * {max}} for replicas, {@code {requests}} for the requests that a replica runs at a time, {@code {period}} and {@code
 * {window}} for seconds, {@code {period-ms}} and {@code {window-ms}} for milliseconds, {@code {dir}} for a scratch
 * directory, and {@code {config}} for the path of the filled-in file.
 *
 * @param command command line for {@code sh -c}
 * @param template file to be filled in, or null for none
 */
public record CommandAutoscaler(String command, @Nullable Path template) implements AutoscalerUnderTest {
    private static final String LOG = "autoscaler.log";
    private static final int MILLI_DIGITS = 3;

    @Override
    public String name() {
        return command;
    }

    @Override
    public Running start(Setup setup) throws IOException {
        if (template != null) {
            Files.writeString(config(setup), filledIn(Files.readString(template), setup));
        }
        return new Started(ShellProcess.start(
                filledIn(command, setup), setup.directory(), setup.directory().resolve(LOG)));
    }

    private Path config(Setup setup) {
        return setup.directory().resolve("config-" + (template == null ? "" : template.getFileName()));
    }

    private String filledIn(String text, Setup setup) {
        var values = new LinkedHashMap<String, Object>();
        values.put("scale", setup.scale());
        values.put("targets", setup.targets());
        values.put("metrics", setup.metrics());
        values.put("min", setup.minReplicas());
        values.put("max", setup.maxReplicas());
        values.put("requests", setup.requestsPerReplica());
        values.put("period", seconds(setup.periodMillis()));
        values.put("window", seconds(setup.windowMillis()));
        values.put("period-ms", setup.periodMillis());
        values.put("window-ms", setup.windowMillis());
        values.put("dir", setup.directory());
        values.put("config", config(setup));
        String filled = text;
        for (var value : values.entrySet()) {
            filled = filled.replace("{" + value.getKey() + "}", String.valueOf(value.getValue()));
        }
        return filled;
    }

    private static String seconds(int millis) {
        return BigDecimal.valueOf(millis, MILLI_DIGITS).stripTrailingZeros().toPlainString();
    }

    private record Started(ShellProcess shell) implements Running {
        @Override
        public boolean isAlive() {
            return shell.isAlive();
        }

        @Override
        public String end() throws IOException {
            return shell.end();
        }

        @Override
        public void close() {
            shell.close();
        }
    }
}
