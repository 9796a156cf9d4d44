package understudy.chaos.answer;

import java.io.StringWriter;
import java.util.Locale;
import javax.xml.stream.XMLOutputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamWriter;
import understudy.chaos.law.Breach;
import understudy.chaos.law.ScenarioResult;
import understudy.chaos.law.Verdict;

/** The result as JUnit XML: a suite for each scenario, and a case for each of its laws. */
public final class JUnitXml {
    private static final double NANOS_PER_SECOND = 1e9;

    private JUnitXml() {}

    /** Returns the document. */
    public static String of(KitResult result) {
        var text = new StringWriter();
        try {
            var xml = XMLOutputFactory.newDefaultFactory().createXMLStreamWriter(text);
            xml.writeStartDocument("UTF-8", "1.0");
            line(xml);
            xml.writeStartElement("testsuites");
            attribute(xml, "name", "understudy chaos " + result.target());
            int numTests = result.scenarios().stream()
                    .mapToInt(scenario -> scenario.verdicts().size())
                    .sum();
            long numFailures =
                    result.scenarios().stream().mapToLong(JUnitXml::numFailures).sum();
            attribute(xml, "tests", String.valueOf(numTests));
            attribute(xml, "failures", String.valueOf(numFailures));
            attribute(
                    xml,
                    "skipped",
                    String.valueOf(result.scenarios().stream()
                            .mapToLong(JUnitXml::numSkipped)
                            .sum()));
            for (var scenario : result.scenarios()) {
                suite(xml, result.target(), scenario);
            }
            line(xml);
            xml.writeEndElement();
            line(xml);
            xml.writeEndDocument();
            xml.close();
        } catch (XMLStreamException e) {
            throw new IllegalStateException("text in memory cannot be written", e);
        }
        return text.toString();
    }

    private static long numFailures(ScenarioResult scenario) {
        return scenario.verdicts().stream().filter(Verdict::isBroken).count();
    }

    private static long numSkipped(ScenarioResult scenario) {
        return scenario.verdicts().stream().filter(Verdict::isInDoubt).count();
    }

    private static void suite(XMLStreamWriter xml, String gateway, ScenarioResult scenario) throws XMLStreamException {
        line(xml);
        xml.writeStartElement("testsuite");
        attribute(xml, "name", scenario.evidence().scenario());
        attribute(xml, "tests", String.valueOf(scenario.verdicts().size()));
        attribute(xml, "failures", String.valueOf(numFailures(scenario)));
        attribute(xml, "errors", "0");
        attribute(xml, "skipped", String.valueOf(numSkipped(scenario)));
        attribute(xml, "time", seconds(scenario.evidence().durationNanos()));
        for (var verdict : scenario.verdicts()) {
            testCase(xml, gateway + "." + scenario.evidence().scenario(), verdict);
        }
        line(xml);
        xml.writeEndElement();
    }

    private static void testCase(XMLStreamWriter xml, String className, Verdict verdict) throws XMLStreamException {
        line(xml);
        xml.writeStartElement("testcase");
        attribute(xml, "name", verdict.law());
        attribute(xml, "classname", className);
        attribute(xml, "time", "0");
        if (verdict.isInDoubt()) {
            xml.writeEmptyElement("skipped");
            attribute(xml, "message", "not judged: " + verdict.doubt());
        } else if (!verdict.isKept()) {
            xml.writeStartElement("failure");
            attribute(
                    xml,
                    "message",
                    verdict.breaches().size() + " breaches, the first: "
                            + verdict.breaches().get(0).reason());
            attribute(xml, "type", verdict.law());
            xml.writeCharacters(printable(verdict.statement()));
            for (var breach : verdict.breaches()) {
                xml.writeCharacters(printable("\n" + line(breach)));
            }
            xml.writeEndElement();
        }
        xml.writeEndElement();
    }

    private static String line(Breach breach) {
        String call = breach.callId().isEmpty() ? "" : breach.callId() + ": ";
        return seconds(breach.atNanos()) + " s " + call + breach.reason();
    }

    private static void line(XMLStreamWriter xml) throws XMLStreamException {
        xml.writeCharacters("\n");
    }

    private static void attribute(XMLStreamWriter xml, String name, String value) throws XMLStreamException {
        xml.writeAttribute(name, printable(value));
    }

    private static String seconds(long nanos) {
        return String.format(Locale.ROOT, "%.3f", nanos / NANOS_PER_SECOND);
    }

    /** XML has no way to write most control characters, and what a broken stream held may be any. */
    private static String printable(String text) {
        var printable = new StringBuilder();
        text.codePoints().map(c -> isXml(c) ? c : 0xfffd).forEach(printable::appendCodePoint);
        return printable.toString();
    }

    private static boolean isXml(int codePoint) {
        return codePoint == '\t'
                || codePoint == '\n'
                || codePoint == '\r'
                || (codePoint >= ' ' && codePoint <= 0xd7ff)
                || (codePoint >= 0xe000 && codePoint <= 0xfffd)
                || codePoint >= 0x10000;
    }
}
