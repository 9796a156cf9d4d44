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

    /** Must be set before the first logger is made, which reads it. */
    @Option(
            names = "--log-level",
            paramLabel = "LEVEL",
            defaultValue = "WARN",
            description = "What to log on stderr: ${COMPLETION-CANDIDATES}. Default: ${DEFAULT-VALUE}.")
    void set(Level level) {
        System.setProperty(LogToStderr.LEVEL_PROPERTY, level.name());
    }
}
