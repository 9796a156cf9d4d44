package understudy.app;

import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import understudy.app.console.ConsoleCommand;

/** Prints a script that completes commands and options in a shell. */
@Command(
        name = "completion",
        mixinStandardHelpOptions = true,
        description = "Prints a script that has a shell complete commands and options.",
        footer = {
            "",
            "Examples:",
            "  source <(understudy completion bash)",
            "  understudy completion bash > ~/.local/share/bash-completion/completions/understudy",
            "  source <(understudy completion zsh)"
        })
final class CompletionCommand extends ConsoleCommand {
    private enum Shell {
        BASH,
        ZSH
    }

    @Parameters(paramLabel = "SHELL", description = "bash or zsh.")
    @SuppressWarnings("unused") // one script is for both: in zsh it switches on what bash has
    private Shell shell = Shell.BASH;

    @Override
    public Integer call() {
        console().out().print(AutoComplete.bash("understudy", Understudy.wholeCommandLine()));
        return console().flush();
    }
}
