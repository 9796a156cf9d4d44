package understudy.app;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import understudy.app.console.ConsoleCommand;
import understudy.app.console.ManPage;
import understudy.settings.KnownKeys;
import understudy.settings.ScenarioException;

/** Prints manual pages of the commands, or writes all of them. */
@Command(
        name = "man",
        mixinStandardHelpOptions = true,
        description = "Prints the manual page of a command as man reads it, or writes those of all commands.",
        footer = {
            "",
            "Examples:",
            "  understudy man run | man -l -",
            "  understudy man --dir ~/.local/share/man/man1 && man understudy-run"
        })
final class ManCommand extends ConsoleCommand {
    @Parameters(
            arity = "0..1",
            paramLabel = "COMMAND",
            description = "Command, such as run; none is for the program itself.")
    private @Nullable String name;

    @Option(names = "--dir", paramLabel = "DIR", description = "Writes all pages there; the directory is made.")
    private @Nullable Path directory;

    @Override
    public Integer call() {
        var program = Understudy.wholeCommandLine();
        if (directory != null) {
            write(program, directory);
        } else {
            console().out().print(ManPage.of(command(program)));
        }
        return console().flush();
    }

    private CommandLine command(CommandLine program) {
        if (name == null) {
            return program;
        }
        var command = program.getSubcommands().get(name);
        if (command == null) {
            throw new ScenarioException("man " + name + ": no such command; did you mean "
                    + KnownKeys.nearest(name, program.getSubcommands().keySet()) + "?");
        }
        return command;
    }

    private static void write(CommandLine program, Path directory) {
        try {
            Files.createDirectories(directory);
            write(directory, program);
            for (var command : program.getSubcommands().values()) {
                write(directory, command);
            }
        } catch (IOException e) {
            throw new ScenarioException("--dir " + directory + ": cannot be written: " + e);
        }
    }

    private static void write(Path directory, CommandLine command) throws IOException {
        Files.writeString(directory.resolve(ManPage.name(command) + ".1"), ManPage.of(command));
    }
}
