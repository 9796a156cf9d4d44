package understudy.conform;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import understudy.engine.speculation.DraftCounts;
import understudy.json.Jackson;
import understudy.workload.files.TraceException;
import understudy.workload.files.TraceFile;

/** Reads a JSON list of recorded runs, gzip'd or not, one run at a time. */
public final class RecordedRunReader implements Closeable {
    private static final double REQUESTS_PER_SECOND = 1_000;

    /** Further fields of recordings with a connector or drafts, taken when a step is planned. */
    private static final Set<String> AFTER_PLAN =
            Set.of("asked", "allocated", "loading", "load_jobs", "store_jobs", "flush", "cpu", "spec");

    /** Further fields, taken when the result is applied, or at the end of the step. */
    private static final Set<String> AFTER_UPDATE = Set.of(
            "aborted",
            "sampled",
            "stored_after",
            "removed_after",
            "free_after",
            "computed",
            "waiting",
            "skipped",
            "finished_recving",
            "finished_sending",
            "invalid_blocks",
            "ended",
            "held",
            "deferred_blocks",
            "loading_after",
            "completed_jobs",
            "cpu_evictable",
            "cpu_t1",
            "cpu_t2",
            "cpu_b1",
            "cpu_b2",
            "cpu_target",
            "cpu_used",
            "cpu_pending");

    private final String file;
    private final MappingIterator<JsonNode> runs;
    private int numRead;

    /** Opens a file. */
    public RecordedRunReader(Path path) {
        file = path.toString();
        try {
            runs = Jackson.mapper().readerFor(JsonNode.class).readValues(TraceFile.open(path));
        } catch (IOException e) {
            throw notJson(e);
        }
    }

    /**
     * Returns the next run, or null at the end.
     *
     * @throws TraceException if it is not a recording
     */
    public @Nullable RecordedRun next() {
        try {
            if (!runs.hasNextValue()) {
                return null;
            }
            numRead++;
            return run(new RecordedPart(file, runs.nextValue(), "workload " + numRead));
        } catch (IOException e) {
            throw notJson(e);
        }
    }

    @Override
    public void close() {
        try {
            runs.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private TraceException notJson(IOException e) {
        String message = e instanceof JsonProcessingException json ? json.getOriginalMessage() : e.getMessage();
        return new TraceException(file, "not JSON: " + message);
    }

    private RecordedRun run(RecordedPart run) {
        var config = run.get("config");
        var requests = run.get("requests").list(this::request);
        var ids = new HashSet<String>();
        for (var request : requests) {
            if (!ids.add(request.id())) {
                throw run.get("requests").problem("has " + request.id() + " twice");
            }
        }
        var settings = RecordedSettings.read(config);
        if (run.find("batches") != null) {
            return new RecordedRun(settings, requests, List.of(), null, kvEvents(run.get("batches")), 1);
        }
        var steps = settings.notReplayed().isEmpty() ? run.get("steps").list(this::step) : List.<StepDecision>of();
        return new RecordedRun(settings, requests, steps, end(run.get("end")), null, 1);
    }

    /** Numbers of adapters are left out: they are the server's, and no decision depends on them. */
    private static Object event(RecordedPart event) {
        var plain = Objects.requireNonNull(event.plain());
        if (plain instanceof Map<?, ?> fields) {
            fields.remove("lora_id");
        }
        return plain;
    }

    /** Returns the events of each step up to the last that has any. */
    private static List<List<Object>> kvEvents(RecordedPart batches) {
        var bySteps = new ArrayList<List<Object>>();
        for (var batch : batches.list(part -> part)) {
            int step = batch.get("step").number(bySteps.size());
            while (bySteps.size() < step) {
                bySteps.add(List.of());
            }
            bySteps.add(batch.get("events").list(RecordedRunReader::event));
        }
        return bySteps;
    }

    /** vLLM's {@code arrival_time} of a recording is its step, and a thousandth for each request before it. */
    private RecordedRun.RecordedRequest request(RecordedPart request) {
        String id = request.get("id").text();
        int arrivalStep = request.get("arrival_step").number(0);
        int index;
        try {
            index = Integer.parseInt(id.substring(1));
        } catch (IndexOutOfBoundsException | NumberFormatException e) {
            throw request.get("id").unusable("a letter and a number, such as r07");
        }
        var prompt = request.get("prompt").numbers();
        if (prompt.isEmpty()) {
            throw request.get("prompt").unusable("a list of at least one token id");
        }
        return RecordedRunRecordedRequestBuilder.builder()
                .id(id)
                .prompt(prompt)
                .maxTokens(request.get("max_tokens").number(1))
                .priority(request.get("priority").number(Integer.MIN_VALUE))
                .arrivalStep(arrivalStep)
                .arrivalTime(arrivalStep + index / REQUESTS_PER_SECOND)
                .abortStep(request.number("abort_step", 0, -1))
                .transfer(transfer(request.find("kv")))
                .accept(numbers(request.find("accept")))
                .drafts(numbers(request.find("drafts")))
                .loraName(
                        request.find("lora") == null ? "" : request.get("lora").text())
                .build();
    }

    private static IntList numbers(@Nullable RecordedPart part) {
        return part == null ? IntList.of() : part.numbers();
    }

    private static RecordedConnector.@Nullable Transfer transfer(@Nullable RecordedPart kv) {
        if (kv == null) {
            return null;
        }
        return new RecordedConnector.Transfer(
                RecordedConnector.Role.valueOf(kv.get("role").text().toUpperCase(Locale.ROOT)),
                kv.get("steps").number(0),
                kv.number("tokens", 0, 0),
                kv.bool("async", false),
                kv.number("defers", 0, 0),
                kv.number("fail", 0, -1));
    }

    private StepDecision step(RecordedPart step) {
        return StepDecisionBuilder.builder()
                .scheduled(step.get("scheduled").map(node -> node.number(1)))
                .preempted(step.get("preempted").list(RecordedPart::text))
                .admitted(step.get("new").list(RecordedPart::text))
                .resumed(step.get("resumed").list(RecordedPart::text))
                .running(step.get("running").list(RecordedPart::text))
                .blockTables(step.get("tables").map(RecordedPart::blockTables))
                .numFreeBlocks(step.get("free_blocks").number(0))
                .numStored(step.get("stored").number(0))
                .numRemoved(step.get("removed").number(0))
                .finished(step.get("finished").list(RecordedPart::text))
                .planned(more(step, AFTER_PLAN))
                .updated(more(step, AFTER_UPDATE))
                .build();
    }

    private static Map<String, Object> more(RecordedPart step, Set<String> names) {
        var fields = new LinkedHashMap<String, Object>();
        for (String name : names) {
            var part = step.find(name);
            if (part != null) {
                var value = Objects.requireNonNull(part.plain());
                fields.put(name, name.equals("cpu_target") ? ((Number) value).doubleValue() : value);
            }
        }
        return fields;
    }

    private static DraftCounts drafts(RecordedPart end) {
        var accepted = new LongArrayList();
        for (var part = end.find("accepted_at_0"); part != null; part = end.find("accepted_at_" + accepted.size())) {
            accepted.add(part.number(0));
        }
        return new DraftCounts(end.number("drafts", 0, 0), end.number("draft_tokens", 0, 0), accepted);
    }

    private RecordedRun.End end(RecordedPart end) {
        return RecordedRunEndBuilder.builder()
                .freeOrder(end.get("free_order").numbers())
                .numPreemptions(end.get("preemptions").number(0))
                .queries(end.get("queries").number(0))
                .hits(end.get("hits").number(0))
                .preemptedQueries(end.get("preempted_queries").number(0))
                .preemptedHits(end.get("preempted_hits").number(0))
                .externalQueries(end.number("external_queries", 0, 0))
                .externalHits(end.number("external_hits", 0, 0))
                .externalPreemptedQueries(end.number("external_preempted_queries", 0, 0))
                .externalPreemptedHits(end.number("external_preempted_hits", 0, 0))
                .drafts(drafts(end))
                .build();
    }
}
