package understudy.chaos.answer;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.OptionalLong;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import understudy.chaos.evidence.Attempt;
import understudy.chaos.evidence.AttemptBuilder;
import understudy.chaos.evidence.Bounds;
import understudy.chaos.evidence.ClientCall;
import understudy.chaos.evidence.ClientCallBuilder;
import understudy.chaos.evidence.Evidence;
import understudy.chaos.evidence.EvidenceBuilder;
import understudy.chaos.evidence.Lateness;
import understudy.chaos.evidence.ReplicaPhase;
import understudy.chaos.law.Laws;
import understudy.chaos.law.ScenarioResult;
import understudy.json.Jackson;

/** Two scenarios: a quiet one, and one in which a replica breaks a stream that the client gets as a whole one. */
final class AnswersTest {
    private static final String NASTY = "<script>\"&\u0001";
    private static final KitResult RESULT = result();

    @Test
    void scoreCardHasScenariosByLaws() {
        String card = ScoreCard.of(RESULT);

        // tokens-in-order, stream-errors-reach-client, gateway-alive: the order of the manual.
        assertThat(card)
                .startsWith("Gateway envoy, seed 7\n")
                .contains("| scenario   | 1 | 2 | 3 |", "| quiet      | + |   | + |", "| mid-stream | 1 | 1 | + |")
                .contains("   1  tokens-in-order\n   2  stream-errors-reach-client\n   3  gateway-alive\n")
                .contains("      0.900 s  c1: r1 broke off after 12 bytes, ")
                .endsWith("\nNot run without --tls: certificate-rotated\n\n1 of 2 scenarios passed\n");
    }

    @Test
    void junitHasSuitesOfCases() throws Exception {
        var xml = document(JUnitXml.of(RESULT));

        var root = xml.getDocumentElement();
        assertThat(root.getAttribute("tests")).isEqualTo("5");
        assertThat(root.getAttribute("failures")).isEqualTo("2");
        var suites = root.getElementsByTagName("testsuite");
        assertThat(suites.getLength()).isEqualTo(2);
        assertThat(((Element) suites.item(1)).getAttribute("time")).isEqualTo("2.000");
        var failure = (Element) root.getElementsByTagName("failure").item(0);
        // What XML cannot say is replaced, and the rest is as it was.
        assertThat(failure.getAttribute("message")).contains("token 1 is \"<script>\"&\ufffd\" where \"b\" should be");
    }

    private static Document document(String xml) throws Exception {
        return DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new ByteArrayInputStream(xml.getBytes(StandardCharsets.UTF_8)));
    }

    @Test
    void jsonHasAllBreaches() throws Exception {
        JsonNode json = Jackson.mapper().readTree(KitJson.of(RESULT));

        assertThat(json.path("passed").asBoolean()).isFalse();
        var broken = json.path("scenarios").path(1);
        assertThat(broken.path("name").asText()).isEqualTo("mid-stream");
        assertThat(broken.path("endings").path("completed").asInt()).isEqualTo(1);
        var breach = broken.path("verdicts").path(1).path("breaches").path(0);
        assertThat(breach.path("call").asText()).isEqualTo("c1");
        assertThat(breach.path("seconds").asDouble()).isEqualTo(0.9);
    }

    @Test
    void pageTellsTheWayOfABrokenCall() {
        String page = KitPage.of(RESULT);

        assertThat(page)
                .doesNotContain("<script")
                .doesNotContain("http://", "https://", "src=")
                .contains("<p class=\"verdict bad\">1 of 2 scenarios passed; seed 7.</p>")
                .contains("<a href=\"#mid-stream.stream-errors-reach-client\">1</a>")
                .contains("<title>r1 is faulty: cut, from 0.500 s to 1.000 s</title>")
                .contains("<title>c1 at r1: broken-by-fault, status 200, 12 bytes, from 0.110 s to 0.800 s</title>");
        var evidence = (Evidence) RESULT.scenarios().get(1).evidence();
        assertThat(CallStory.of(evidence.calls().get(0), evidence))
                .extracting(event -> event.who() + " " + event.what())
                .containsExactly(
                        "client sends a streamed request of tenant t, session s",
                        "r1 gets the request on connection 3",
                        "r1 sends the first byte with status 200",
                        "client gets status 200",
                        "client gets the first token",
                        "r1 is faulty from here: cut",
                        "r1 ends: broken-by-fault, status 200, 12 bytes",
                        "client ends: completed, 2 of 3 tokens");
    }

    /** The machine stood still for 0.8 s, so that the gateway may be alive. */
    private static KitResult late() {
        var evidence = EvidenceBuilder.builder()
                .scenario("quiet")
                .bounds(new Bounds(millis(1_000), millis(1_000), millis(5_000), 2, 0, 4, 0))
                .durationNanos(millis(2_000))
                .replicas(List.of("r1"))
                .calls(List.of())
                .attempts(List.of())
                .phases(List.of())
                .connections(List.of())
                .isGatewayAlive(false)
                .lateness(new Lateness(List.of(new Lateness.Stall(millis(100), millis(900))), 0))
                .build();
        var laws = List.of(Laws.named("tokens-in-order"), Laws.named("gateway-alive"));
        return new KitResult(
                KitResult.Kind.GATEWAY,
                "envoy",
                7,
                List.of(ScenarioResult.judge("Nothing happens.", evidence, laws)),
                List.of());
    }

    @Test
    void lawThatCannotBeJudgedIsNeitherKeptNorBroken() throws Exception {
        var late = late();

        assertThat(late.isPassed()).isFalse();
        assertThat(late.isBroken()).isFalse();
        assertThat(ScoreCard.of(late))
                .contains("| quiet    | + | ? |")
                .contains("\n  gateway-alive: not judged: this machine was late by 0.80 s of 2.00 s\n")
                .endsWith("\n0 of 1 scenarios passed, 1 could not be judged\n");
        var suite = (Element) document(JUnitXml.of(late))
                .getDocumentElement()
                .getElementsByTagName("testsuite")
                .item(0);
        assertThat(suite.getAttribute("failures")).isEqualTo("0");
        assertThat(suite.getAttribute("skipped")).isEqualTo("1");
        var skipped = (Element) suite.getElementsByTagName("skipped").item(0);
        assertThat(skipped.getAttribute("message")).isEqualTo("not judged: this machine was late by 0.80 s of 2.00 s");
        var scenario =
                Jackson.mapper().readTree(KitJson.of(late)).path("scenarios").path(0);
        assertThat(scenario.path("lateSeconds").asDouble()).isEqualTo(0.8);
        assertThat(scenario.path("verdicts").path(1).path("judged").asBoolean()).isFalse();
        assertThat(KitPage.of(late))
                .contains("<p class=\"verdict bad\">0 of 1 scenarios passed, 1 could not be judged; seed 7.</p>")
                .contains("<td><a href=\"#quiet.gateway-alive\">not judged</a></td>")
                .contains("<section id=\"quiet.gateway-alive\">")
                .contains("<p>Not judged: this machine was late by 0.80 s of 2.00 s.</p>");
    }

    private static KitResult result() {
        var quiet = scenario("quiet", List.of(), List.of(), List.of());
        var call = ClientCallBuilder.builder()
                .id("c1")
                .session("s")
                .tenant("t")
                .isStreamed(true)
                .sentNanos(millis(100))
                .headNanos(millis(130))
                .firstTokenNanos(millis(140))
                .endNanos(millis(900))
                .status(200)
                .retryAfterSeconds(OptionalLong.empty())
                .ending(ClientCall.Ending.COMPLETED)
                .expected(List.of("a", "b", "c"))
                .received(List.of("a", NASTY))
                .error("")
                .build();
        var attempt = AttemptBuilder.builder()
                .callId("c1")
                .replica("r1")
                .connection(3)
                .acceptedNanos(millis(110))
                .firstBodyByteNanos(millis(120))
                .endNanos(millis(800))
                .status(200)
                .retryAfterSeconds(OptionalLong.empty())
                .bodyBytes(12)
                .ending(Attempt.Ending.BROKEN_BY_FAULT)
                .build();
        var cut = new ReplicaPhase("r1", ReplicaPhase.State.FAULTY, "cut", millis(500), millis(1_000));
        var broken = scenario("mid-stream", List.of(call), List.of(attempt), List.of(cut));
        return new KitResult(
                KitResult.Kind.GATEWAY,
                "envoy",
                7,
                List.of(
                        ScenarioResult.judge(
                                "Nothing happens.",
                                quiet,
                                List.of(Laws.named("tokens-in-order"), Laws.named("gateway-alive"))),
                        ScenarioResult.judge(
                                "A stream breaks.",
                                broken,
                                List.of(
                                        Laws.named("tokens-in-order"),
                                        Laws.named("stream-errors-reach-client"),
                                        Laws.named("gateway-alive")))),
                List.of("certificate-rotated"));
    }

    private static Evidence scenario(
            String name, List<ClientCall> calls, List<Attempt> attempts, List<ReplicaPhase> phases) {
        var bounds = new Bounds(millis(1_000), millis(1_000), millis(5_000), 2, 0, 4, 0);
        return EvidenceBuilder.builder()
                .scenario(name)
                .bounds(bounds)
                .durationNanos(millis(2_000))
                .replicas(List.of("r1"))
                .calls(calls)
                .attempts(attempts)
                .phases(phases)
                .connections(List.of())
                .isGatewayAlive(true)
                .lateness(Lateness.NONE)
                .build();
    }

    private static long millis(int millis) {
        return millis * 1_000_000L;
    }
}
