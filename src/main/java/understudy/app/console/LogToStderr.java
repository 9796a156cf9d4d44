package understudy.app.console;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.classic.spi.ConfiguratorRank;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.spi.ContextAwareBase;
import ch.qos.logback.core.status.NopStatusListener;
import java.util.stream.Stream;
import org.slf4j.Logger;

/**
 * Sends logs to stderr, since stdout is for results. Found by logback as a service; steps back for a configuration
 * file.
 *
 * <p>In code and not in XML because reading XML takes longer than all the rest of a short run's start.
 */
@ConfiguratorRank(ConfiguratorRank.CUSTOM_LOW_PRIORITY)
public final class LogToStderr extends ContextAwareBase implements Configurator {
    /** The system property with the level below which nothing is logged. */
    static final String LEVEL_PROPERTY = "understudy.log-level";

    @Override
    public ExecutionStatus configure(LoggerContext context) {
        if (hasConfigurationFile()) {
            return ExecutionStatus.INVOKE_NEXT_IF_ANY;
        }
        var encoder = new PatternLayoutEncoder();
        encoder.setContext(context);
        encoder.setPattern("%-5level %logger{0}: %msg%n");
        encoder.start();
        var stderr = new ConsoleAppender<ILoggingEvent>();
        stderr.setContext(context);
        stderr.setTarget("System.err");
        stderr.setEncoder(encoder);
        stderr.start();
        var root = context.getLogger(Logger.ROOT_LOGGER_NAME);
        root.setLevel(Level.toLevel(System.getProperty(LEVEL_PROPERTY), Level.WARN));
        root.addAppender(stderr);
        // The library of tokenizers looks for GPUs, which are not needed here, and warns that it finds none.
        context.getLogger("ai.djl").setLevel(Level.ERROR);
        // Nothing is wrong with these settings, so what would print that need not be loaded.
        context.getStatusManager().add(new NopStatusListener());
        return ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY;
    }

    private static boolean hasConfigurationFile() {
        return System.getProperty("logback.configurationFile") != null
                || Stream.of("logback-test.xml", "logback.xml")
                        .anyMatch(file -> LogToStderr.class.getClassLoader().getResource(file) != null);
    }
}
