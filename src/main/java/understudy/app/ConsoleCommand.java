package understudy.app;

import java.util.concurrent.Callable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Base of all commands. */
abstract class ConsoleCommand implements Callable<Integer> {
    @Spec
    private CommandSpec command;

    @Mixin
    @SuppressWarnings("unused") // its option acts when it is parsed
    private final LogLevel logLevel;

    ConsoleCommand() {
        this(new LogLevel());
    }

    ConsoleCommand(LogLevel usual) {
        logLevel = usual;
    }

    Console console() {
        return new Console(command.commandLine());
    }
}
