package understudy.app.console;

import picocli.CommandLine.Option;

/** Option for the log level, common to all commands. */
public final class LogLevel {
    public enum Level {
        ERROR,
        WARN,
        INFO,
        DEBUG,
        TRACE
    }

    /** Logs what most commands log. */
    public LogLevel() {
        this(Level.WARN);
    }

    /** Logs this much unless the option says otherwise; a command of many runs would say the same again and again. */
    public LogLevel(Level usual) {
        set(usual);
    }

    /** Must be set before the first logger is made, which reads it. */
    @Option(
            names = "--log-level",
            paramLabel = "LEVEL",
            description = "What to log on stderr: ${COMPLETION-CANDIDATES}. Default: WARN, or ERROR for many runs.")
    public final void set(Level level) {
        System.setProperty(LogToStderr.LEVEL_PROPERTY, level.name());
    }
}
