package understudy.chaos.answer;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import understudy.chaos.autoscaler.evidence.ScalingEvidence;
import understudy.chaos.evidence.Evidence;
import understudy.chaos.law.Breach;
import understudy.chaos.law.ScenarioResult;
import understudy.json.Jackson;

/** The result as JSON: scenarios, their verdicts with all breaches, and counts of calls by their ending. */
public final class KitJson {
    private static final double NANOS_PER_SECOND = 1e9;

    private KitJson() {}

    /** Returns the document, with a line break at its end. */
    public static String of(KitResult result) {
        var root = Jackson.mapper().createObjectNode();
        root.put(Words.of(result.kind()), result.target());
        root.put("seed", result.seed());
        root.put("passed", result.isPassed());
        var laws = root.putObject("laws");
        result.laws().forEach(laws::put);
        var scenarios = root.putArray("scenarios");
        result.scenarios().forEach(each -> write(each, scenarios.addObject()));
        var needTls = root.putArray("not_run_without_tls");
        result.needTls().forEach(needTls::add);
        try {
            return Jackson.mapper().writerWithDefaultPrettyPrinter().writeValueAsString(root) + "\n";
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a tree cannot be written", e);
        }
    }

    private static void write(ScenarioResult result, ObjectNode into) {
        var evidence = result.evidence();
        into.put("name", evidence.scenario());
        into.put("description", result.description());
        into.put("passed", result.isPassed());
        into.put("seconds", evidence.durationNanos() / NANOS_PER_SECOND);
        into.put("lateSeconds", evidence.lateness().totalNanos() / NANOS_PER_SECOND);
        into.put("threadsPerProcessor", evidence.lateness().threadsPerProcessor());
        if (evidence instanceof Evidence ofGateway) {
            write(ofGateway, into);
        } else if (evidence instanceof ScalingEvidence ofAutoscaler) {
            write(ofAutoscaler, into);
        }
        var verdicts = into.putArray("verdicts");
        result.verdicts().forEach(verdict -> {
            var node = verdicts.addObject();
            node.put("law", verdict.law());
            node.put("kept", verdict.isKept());
            node.put("judged", !verdict.isInDoubt());
            var breaches = node.putArray("breaches");
            verdict.breaches().forEach(breach -> write(breach, breaches));
        });
    }

    private static void write(Evidence evidence, ObjectNode into) {
        into.put("calls", evidence.calls().size());
        into.put("attempts", evidence.attempts().size());
        var endings = into.putObject("endings");
        evidence.calls().forEach(call -> {
            String ending = Words.of(call.ending());
            endings.put(ending, endings.path(ending).asInt() + 1);
        });
    }

    private static void write(ScalingEvidence evidence, ObjectNode into) {
        into.put("calls", evidence.calls().size());
        into.put("initialReplicas", evidence.initialReplicas());
        var changes = into.putArray("changes");
        evidence.changes()
                .forEach(change -> changes.addObject()
                        .put("seconds", change.atNanos() / NANOS_PER_SECOND)
                        .put("replicas", change.after()));
    }

    private static void write(Breach breach, ArrayNode into) {
        into.addObject()
                .put("seconds", breach.atNanos() / NANOS_PER_SECOND)
                .put("call", breach.callId())
                .put("replica", breach.replica())
                .put("reason", breach.reason());
    }
}
