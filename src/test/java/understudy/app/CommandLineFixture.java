package understudy.app;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;

/** Calls the program as a user does, but in this process. */
public final class CommandLineFixture {
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

    public JsonNode json() throws IOException {
        return new ObjectMapper().readTree(out);
    }

    /** The report without what depends on the machine. */
    public String jsonWithoutHost() throws IOException {
        return ((ObjectNode) json()).without("host").toString();
    }
}
