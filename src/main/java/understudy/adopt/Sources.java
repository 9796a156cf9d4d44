package understudy.adopt;

import java.util.Locale;
import understudy.settings.ScenarioException;

/** Tells start logs, pages of metrics and answers in JSON apart, and reads them. */
public final class Sources {
    private Sources() {}

    /**
     * Returns what a text says.
     *
     * @param name of the file or address it comes from
     * @throws ScenarioException if it is nothing that a server of vLLM or SGLang writes about itself
     */
    public static Findings read(String name, String text) {
        String start = text.stripLeading();
        if (start.isEmpty()) {
            throw new ScenarioException(name + ": empty");
        }
        if (isHtml(start)) {
            throw new ScenarioException(name
                    + ": a web page (HTML), not what a server of vLLM or SGLang says; is something in front of it?");
        }
        if (start.charAt(0) == '{' || start.startsWith("[{")) {
            return ServerAnswer.read(name, text);
        }
        if (MetricsPage.isOne(text)) {
            return MetricsFacts.of(MetricsPage.read(name, text));
        }
        var findings = StartLog.read(name, text);
        if (findings.engine() == null) {
            throw new ScenarioException(name + ": no start log of vLLM or SGLang, and no page of metrics: none of its "
                    + text.lines().count() + " lines is one that they write when they start");
        }
        return findings;
    }

    /** Returns whether a text is a page of metrics, but none of an engine: a server may be told to keep none of these. */
    public static boolean isPageWithoutEngine(String name, String text) {
        return MetricsPage.isOne(text) && !MetricsPage.read(name, text).hasEngine();
    }

    /** Returns whether a text is a web page. */
    public static boolean isHtml(String text) {
        String start = text.stripLeading();
        return start.substring(0, Math.min(start.length(), 16))
                .toLowerCase(Locale.ROOT)
                .matches("(?s)<(!doctype|html).*");
    }
}
