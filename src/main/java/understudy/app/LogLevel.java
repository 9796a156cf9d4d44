package understudy.app;

import picocli.CommandLine.Option;

/** Option for the log level, common to all commands. */
final class LogLevel {
    enum Level {
        ERROR,
        WARN,
        INFO,
        DEBUG,
        TRACE
    }

    /** Logs what most commands log. */
    LogLevel() {
        this(Level.WARN);
    }

    /** Logs this much unless the option says otherwise; a command of many runs would say the same again and again. */
    LogLevel(Level usual) {
        set(usual);
    }

    /** Must be set before the first logger is made, which reads it. */
    @Option(
            names = "--log-level",
            paramLabel = "LEVEL",
            description = "What to log on stderr: ${COMPLETION-CANDIDATES}. Default: WARN, or ERROR for many runs.")
    final void set(Level level) {
        System.setProperty(LogToStderr.LEVEL_PROPERTY, level.name());
    }
}
