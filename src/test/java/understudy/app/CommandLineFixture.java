package understudy.app;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;

/** Calls the program as a user does, but in this process. */
public final class CommandLineFixture {
    /** Two replicas, and 50 requests of short sessions. */
    private static final String SMALL = """
            workload {
              requests = 50
              arrivals.request-rate = 20
              sessions.turns { kind = uniform, min = 1, max = 3 }
            }
            cluster.replicas = 2
            """;

    public final String out;
    public final String err;
    public final int exitCode;

    private CommandLineFixture(String... args) {
        var outText = new StringWriter();
        var errText = new StringWriter();
        exitCode = Understudy.commandLine(args)
                .setOut(new PrintWriter(outText))
                .setErr(new PrintWriter(errText))
                .execute(args);
        out = outText.toString();
        err = errText.toString();
    }

    public static CommandLineFixture call(String... args) {
        return new CommandLineFixture(args);
    }

    /** Writes a scenario of a short run into a directory, and returns its path. */
    static String writeSmall(Path directory) throws IOException {
        return Files.writeString(directory.resolve("small.conf"), SMALL).toString();
    }

    public JsonNode json() throws IOException {
        return new ObjectMapper().readTree(out);
    }

    /** The report without what depends on the machine. */
    public String jsonWithoutHost() throws IOException {
        return ((ObjectNode) json()).without("host").toString();
    }
}
