package understudy.app.console;

import java.util.concurrent.Callable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Base of all commands. */
public abstract class ConsoleCommand implements Callable<Integer> {
    @Spec
    private CommandSpec command;

    @Mixin
    @SuppressWarnings("unused") // its option acts when it is parsed
    private final LogLevel logLevel;

    public ConsoleCommand() {
        this(new LogLevel());
    }

    public ConsoleCommand(LogLevel usual) {
        logLevel = usual;
    }

    public Console console() {
        return new Console(command.commandLine());
    }
}
