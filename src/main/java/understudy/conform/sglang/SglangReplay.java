package understudy.conform.sglang;

import it.unimi.dsi.fastutil.ints.IntImmutableList;
import it.unimi.dsi.fastutil.ints.IntList;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import understudy.engine.sglang.AddResult;
import understudy.engine.sglang.SglangBatch;
import understudy.engine.sglang.SglangPlan;
import understudy.engine.sglang.SglangRequest;
import understudy.engine.sglang.SglangScheduler;
import understudy.kvcache.radix.RadixMemory;

/**
 * Replay of a recording through scheduler and memory without actors, by the contract of its recorder: add what arrives,
 * abort, plan, launch, then apply the result of this turn, or where results overlap with plans that of the turn before.
 */
public final class SglangReplay {
    /** Sums over all turns that a recording may have at its end. */
    private static final List<String> TOTALS = List.of(
            "retractions",
            "preemptions",
            "lost",
            "oom_aborts",
            "stored",
            "removed",
            "verifications",
            "accepted",
            "windowed_tokens",
            "host_size",
            "host_hit_tokens",
            "backed_up",
            "backup_refused",
            "host_evicted_tokens",
            "load_backs",
            "loaded",
            "load_refused",
            "host_stored",
            "host_removed",
            "bootstrapped",
            "preallocated",
            "transferred",
            "resumed",
            "failed",
            "pieces");

    private final SglangRecording recording;
    private final SglangScheduler engine;
    private final RadixMemory memory;
    private final List<Integer> arrivals;
    private final ArrayDeque<Launched> inFlight = new ArrayDeque<>();
    private final Map<String, SglangRequest> live = new LinkedHashMap<>();
    private final int[] numLaunched;
    private final boolean overlaps;
    private int numArrived;
    private boolean hadBatch;
    private int now;
    private long numStored;
    private long numRemoved;
    private long numHitTokens;
    private long numInputTokens;

    private final Map<String, Integer> totals = new LinkedHashMap<>();

    /** Batch that was launched, with what its verification gives. */
    private record Launched(SglangBatch batch, IntList numAccepted) {}

    /**
     * Agreement of a replay with the recording.
     *
     * @param numSteps recorded turns
     * @param numIdentical how many of them were the same in every field, up to the first that was not
     * @param difference what differs first, or empty if nothing does
     */
    public record Result(int numSteps, int numIdentical, Optional<String> difference) {}

    private SglangReplay(SglangRecording recording) {
        this.recording = recording;
        var config = recording.schedulerConfig();
        overlaps = config.overlaps();
        engine = SglangScheduler.create(config);
        memory = RadixMemory.create(config.memory());
        arrivals = IntStream.range(0, recording.requests().size())
                .boxed()
                .sorted(Comparator.comparingInt(i -> recording.requests().get(i).number("arrival_step")))
                .toList();
        numLaunched = new int[recording.requests().size()];
    }

    /** Replays a recording up to the first turn that differs. */
    public static Result replay(SglangRecording recording) {
        return new SglangReplay(recording).replay();
    }

    private Result replay() {
        int count = recording.steps().size();
        for (int i = 0; i < count; i++) {
            var expected = recording.steps().get(i);
            var actual = turn(expected);
            var difference = Difference.first("step " + expected.get("step") + ", ", expected, actual);
            if (difference.isPresent()) {
                return new Result(count, i, difference);
            }
        }
        var difference = Difference.first("end, ", recording.end(), end());
        return new Result(count, difference.isEmpty() ? count : count - 1, difference);
    }

    private Map<String, Object> turn(Map<String, Object> expected) {
        int step = ((Number) Objects.requireNonNull(expected.get("step"))).intValue();
        var fields = new LinkedHashMap<String, Object>();
        fields.put("step", step);
        now = step;
        arrive(step);
        abort(step, fields);
        memory.setTurn(step);
        var plan = plan();
        planned(plan, expected, fields);
        memoryFields("", fields);
        var batch = plan.batch();
        if (batch != null && batch.mode() != SglangBatch.Mode.DECODE) {
            numHitTokens += plan.numHitTokens();
            numInputTokens += plan.numInputTokens();
        }
        var results = new ArrayList<Map<String, Object>>();
        var accepted = new LinkedHashMap<String, Object>();
        if (batch != null) {
            inFlight.add(launch(batch, accepted));
        }
        boolean isResultDue = overlaps ? hadBatch : batch != null;
        if (isResultDue) {
            results.add(apply(inFlight.remove()));
        }
        if (batch == null && !isResultDue && inFlight.isEmpty()) {
            engine.onIdle(memory.hasPendingCopies());
        }
        memory.answer(engine.endTurn());
        hadBatch = batch != null;
        roleFieldsAfter(plan, fields);
        fields.put("accepted", accepted);
        fields.put("results", results);
        finished(fields);
        memoryFields("_after", fields);
        lengths("lengths_after", batch, fields);
        return fields;
    }

    private void arrive(int step) {
        while (numArrived < arrivals.size()) {
            int index = arrivals.get(numArrived);
            var recorded = recording.requests().get(index);
            if (recorded.number("arrival_step") > step) {
                return;
            }
            numArrived++;
            var options = new SglangRequest.Options(
                    recorded.priority(),
                    recorded.text("routing_key"),
                    recording.role().isEmpty() ? null : new ScriptedPeer(recorded, () -> now));
            var request = new SglangRequest(engine.config(), recorded.request(index), options, index, 0);
            engine.add(request);
            live.put(recorded.id(), request);
        }
    }

    private void abort(int step, Map<String, Object> fields) {
        var aborted = new ArrayList<String>();
        for (var recorded : recording.requests()) {
            var request = live.get(recorded.id());
            if (request != null && recorded.number("abort_step", -1) == step) {
                aborted.add(recorded.id());
            }
        }
        for (String id : aborted) {
            if (engine.abort(Objects.requireNonNull(live.get(id)))) {
                live.remove(id);
            }
        }
        if (!aborted.isEmpty()) {
            fields.put("aborted", aborted);
        }
    }

    private SglangPlan plan() {
        engine.begin();
        for (var ask = engine.next(); ask != null; ask = engine.next()) {
            var answer = memory.answer(ask);
            if (ask.awaitsAnswer()) {
                engine.answer(answer);
            }
        }
        return engine.plan();
    }

    private void planned(SglangPlan plan, Map<String, Object> expected, Map<String, Object> fields) {
        var batch = plan.batch();
        fields.put("mode", batch == null ? "idle" : batch.mode().name().toLowerCase(Locale.ROOT));
        var scheduled = new LinkedHashMap<String, Object>();
        var prefix = new LinkedHashMap<String, Object>();
        for (int i = 0; batch != null && i < batch.size(); i++) {
            scheduled.put(batch.request(i).name(), batch.numTokens(i));
            if (i < batch.numPrefills()) {
                prefix.put(batch.request(i).name(), batch.numPrefixTokens(i));
            }
        }
        fields.put("scheduled", scheduled);
        fields.put("prefix", prefix);
        var chunked = engine.chunked();
        fields.put("chunked", chunked == null ? null : chunked.name());
        fields.put("retracted", names(plan.retracted()));
        fields.put("preempted", names(plan.preempted()));
        fields.put("lost", names(plan.lost()));
        fields.put("oom_aborted", names(plan.outOfMemory()));
        count("retractions", plan.retracted().size());
        count("preemptions", plan.preempted().size());
        count("lost", plan.lost().size());
        count("oom_aborts", plan.outOfMemory().size());
        for (var tried : plan.tried()) {
            if (recording.hasHost() && tried.result() == AddResult.CONTINUE) {
                count("host_hit_tokens", tried.hostHit());
            }
        }
        plan.outOfMemory().forEach(request -> live.remove(request.name()));
        plan.lost().forEach(request -> live.remove(request.name()));
        fields.put("waiting", names(engine.waiting()));
        fields.put("running", names(engine.running()));
        fields.put("batch_is_full", engine.isFull());
        fields.put("new_token_ratio", engine.newTokenRatio());
        var tables = new LinkedHashMap<String, Object>();
        var slots = new LinkedHashMap<String, Object>();
        for (var request : seated(batch)) {
            tables.put(request.name(), runs(memory.table(request.handle())));
            slots.put(request.name(), request.slot());
        }
        fields.put("tables", tables);
        fields.put("slots", slots);
        if (expected.containsKey("tried")) {
            fields.put(
                    "tried",
                    plan.tried().stream()
                            .map(tried -> List.of(
                                    tried.request().name(),
                                    tried.numPrefixTokens(),
                                    tried.hostHit(),
                                    tried.result().name()))
                            .toList());
        }
        lengths("lengths", batch, fields);
        windowed(batch, fields);
        roleFields(plan, fields);
    }

    private void roleFields(SglangPlan plan, Map<String, Object> fields) {
        if (recording.role().isEmpty()) {
            return;
        }
        fields.put("bootstrapped", names(plan.bootstrapped()));
        fields.put("resumed", names(plan.resumed()));
        fields.put("preallocated", names(plan.preallocated()));
        fields.put("transferred", names(plan.transferred()));
        fields.put("queued", names(plan.queued()));
        fields.put("prebuilt", names(plan.prebuilt()));
        count("bootstrapped", plan.bootstrapped().size());
        count("resumed", plan.resumed().size());
        count("preallocated", plan.preallocated().size());
        count("transferred", plan.transferred().size());
        fields.put("metadata_free", engine.numFreeMetadata());
        engine.roleQueues().forEach((name, queue) -> fields.put(name, names(queue)));
        var held = new LinkedHashMap<String, Object>();
        for (var request : engine.roleQueues().getOrDefault("transfer", List.of())) {
            held.put(request.name(), runs(memory.table(request.handle())));
        }
        for (var request : engine.waiting()) {
            held.put(request.name(), runs(memory.table(request.handle())));
        }
        fields.put("held_tables", held);
    }

    private void roleFieldsAfter(SglangPlan plan, Map<String, Object> fields) {
        if (recording.role().isEmpty()) {
            return;
        }
        fields.put("metadata_free_after", engine.numFreeMetadata());
        fields.put("inflight", names(engine.roleQueues().getOrDefault("inflight", List.of())));
        fields.put(
                "sent",
                plan.sent().stream()
                        .map(sent -> List.of(sent.request().name(), sent.numPages(), sent.isLast()))
                        .toList());
        count("pieces", plan.sent().size());
        var failed = live.values().stream()
                .filter(SglangRequest::hasFailed)
                .map(SglangRequest::name)
                .sorted()
                .toList();
        fields.put("failed", failed);
        count("failed", failed.size());
    }

    private void windowed(@Nullable SglangBatch batch, Map<String, Object> fields) {
        if (!recording.hasWindow()) {
            return;
        }
        var windowed = new ArrayList<List<Object>>();
        var taken = memory.takeWindowed();
        for (int i = 0; i < taken.size(); i += 3) {
            windowed.add(
                    List.of(recording.requests().get(taken.getInt(i)).id(), taken.getInt(i + 1), taken.getInt(i + 2)));
            count("windowed_tokens", taken.getInt(i + 2) - taken.getInt(i + 1));
        }
        fields.put("windowed", windowed);
        var tables = new LinkedHashMap<String, Object>();
        for (var request : seated(batch)) {
            tables.put(
                    request.name(),
                    windowRuns(memory.windowPages(new IntImmutableList(memory.table(request.handle())))));
        }
        fields.put("swa_tables", tables);
    }

    /** Returns the requests of the batch, and those that run, which have a row of the request table. */
    private Set<SglangRequest> seated(@Nullable SglangBatch batch) {
        var requests = new LinkedHashSet<SglangRequest>();
        if (batch != null) {
            requests.addAll(batch.requests());
        }
        requests.addAll(engine.running());
        requests.removeIf(request -> request.slot() == 0);
        return requests;
    }

    private void lengths(String field, @Nullable SglangBatch batch, Map<String, Object> fields) {
        if (!recording.speculates()) {
            return;
        }
        var lengths = new LinkedHashMap<String, Object>();
        for (var request : seated(batch)) {
            lengths.put(
                    request.name(), List.of(memory.numCommitted(request.handle()), memory.numPlaces(request.handle())));
        }
        fields.put(field, lengths);
    }

    private void memoryFields(String mark, Map<String, Object> fields) {
        fields.put("free" + mark, memory.numFullFree());
        fields.put("evictable" + mark, memory.numEvictable());
        fields.put("protected" + mark, memory.numProtected());
        fields.put("stored" + mark, memory.numStored() - numStored);
        fields.put("removed" + mark, memory.numRemoved() - numRemoved);
        if (recording.hasWindow()) {
            fields.put("swa_free" + mark, memory.numWindowFree());
            fields.put("swa_evictable" + mark, memory.numWindowEvictable());
            fields.put("swa_protected" + mark, memory.numWindowProtected());
        }
        hostFields(mark, fields);
        count("stored", (int) (memory.numStored() - numStored));
        count("removed", (int) (memory.numRemoved() - numRemoved));
        numStored = memory.numStored();
        numRemoved = memory.numRemoved();
    }

    private void hostFields(String mark, Map<String, Object> fields) {
        var host = memory.takeHostActivity();
        if (host == null) {
            return;
        }
        fields.put("host_free" + mark, host.numFree());
        fields.put("host_used" + mark, host.numUsed());
        fields.put("pending_writes" + mark, host.numPendingWrites());
        fields.put("pending_loads" + mark, host.numPendingLoads());
        fields.put("backups" + mark, host.backups());
        fields.put("backup_refused" + mark, host.numRefusedBackups());
        fields.put("host_evicted" + mark, pairs(host.evictions()));
        fields.put("load_backs" + mark, namedPairs(host.loads()));
        fields.put("load_refused" + mark, namedPairs(host.refusedLoads()));
        fields.put("acked_writes" + mark, host.numAcknowledgedWrites());
        fields.put("acked_loads" + mark, host.numAcknowledgedLoads());
        fields.put("host_stored" + mark, host.numStored());
        fields.put("host_removed" + mark, host.numRemoved());
        var nodes = memory.nodes();
        fields.put(
                "nodes" + mark,
                List.of(
                        nodes.size(),
                        nodes.stream().filter(node -> node.hostPages() != null).count(),
                        nodes.stream().filter(node -> node.pages() == null).count()));
        count("host_size", host.numFree() + host.numUsed() - totals.getOrDefault("host_size", 0));
        count("backed_up", host.backups().intStream().sum());
        count("backup_refused", host.numRefusedBackups());
        count("host_evicted_tokens", secondOfPairs(host.evictions()));
        count("load_backs", host.loads().size() / 2);
        count("loaded", secondOfPairs(host.loads()));
        count("load_refused", host.refusedLoads().size() / 2);
        count("host_stored", host.numStored());
        count("host_removed", host.numRemoved());
    }

    private static int secondOfPairs(IntList pairs) {
        return IntStream.range(0, pairs.size() / 2)
                .map(i -> pairs.getInt(2 * i + 1))
                .sum();
    }

    private static List<List<Integer>> pairs(IntList numbers) {
        return IntStream.range(0, numbers.size() / 2)
                .mapToObj(i -> List.of(numbers.getInt(2 * i), numbers.getInt(2 * i + 1)))
                .toList();
    }

    private List<List<Object>> namedPairs(IntList numbers) {
        return IntStream.range(0, numbers.size() / 2)
                .mapToObj(i -> List.<Object>of(
                        recording.requests().get(numbers.getInt(2 * i)).id(), numbers.getInt(2 * i + 1)))
                .toList();
    }

    /** Launches a batch: a verification accepts what the request says, by the number of its first new token. */
    private Launched launch(SglangBatch batch, Map<String, Object> accepted) {
        boolean verifies = recording.speculates() && batch.mode() == SglangBatch.Mode.DECODE;
        var counts = new int[verifies ? batch.size() : 0];
        for (int i = 0; i < batch.size() && recording.speculates(); i++) {
            var request = batch.request(i);
            if (!verifies) {
                numLaunched[request.handle()] = memory.numCommitted(request.handle());
                continue;
            }
            int first = numLaunched[request.handle()] - request.numPromptTokens() + 1;
            counts[i] = recording.requests().get(request.handle()).accepted(first);
            numLaunched[request.handle()] += counts[i];
            accepted.put(request.name(), counts[i]);
            count("verifications", 1);
            count("accepted", counts[i]);
        }
        return new Launched(batch, new IntImmutableList(counts));
    }

    private Map<String, Object> apply(Launched launched) {
        var result = new LinkedHashMap<String, Object>();
        memory.answer(engine.update(
                launched.batch(),
                launched.numAccepted().toIntArray(),
                (request, numTokens) -> result.put(request.name(), numTokens)));
        return result;
    }

    private void finished(Map<String, Object> fields) {
        var finished = live.values().stream()
                .filter(SglangRequest::isFinished)
                .map(SglangRequest::name)
                .sorted()
                .toList();
        finished.forEach(live::remove);
        fields.put("finished", finished);
    }

    private Map<String, Object> end() {
        var fields = new LinkedHashMap<String, Object>();
        fields.put("free_order", runs(memory.freeOrder()));
        fields.put("swa_free_order", runs(memory.windowFreeOrder()));
        fields.put("release_order", runs(memory.releaseOrder()));
        fields.put("host_free_order", runs(memory.hostFreeOrder()));
        if (recording.hasWindow()) {
            fields.put("swa_size", memory.numWindowFree() + memory.numWindowEvictable() + memory.numWindowProtected());
        }
        fields.put("free_slots", IntStream.of(engine.freeSlots()).boxed().toList());
        fields.put("prefill_hit_tokens", numHitTokens);
        fields.put("prefill_input_tokens", numInputTokens);
        for (String total : TOTALS) {
            fields.put(total, totals.getOrDefault(total, 0));
        }
        fields.put("tree", TreeRows.of(memory, recording));
        return fields;
    }

    private void count(String total, int more) {
        totals.merge(total, more, Integer::sum);
    }

    private static List<String> names(List<SglangRequest> requests) {
        return requests.stream().map(SglangRequest::name).toList();
    }

    /** Returns numbers as runs of those that follow each other: the first, and how many. */
    static List<List<Integer>> runs(int[] numbers) {
        var runs = new ArrayList<List<Integer>>();
        int first = 0;
        for (int i = 1; i <= numbers.length; i++) {
            if (i == numbers.length || numbers[i] != numbers[i - 1] + 1) {
                runs.add(List.of(numbers[first], i - first));
                first = i;
            }
        }
        return runs;
    }

    /** Returns pages of a window as runs; those that are gone are runs of 0. */
    static List<List<Integer>> windowRuns(IntList pages) {
        var runs = new ArrayList<List<Integer>>();
        int first = 0;
        for (int i = 1; i <= pages.size(); i++) {
            int step = pages.getInt(i - 1) == 0 ? 0 : 1;
            if (i == pages.size() || pages.getInt(i) != pages.getInt(i - 1) + step) {
                runs.add(List.of(pages.getInt(first), i - first));
                first = i;
            }
        }
        return runs;
    }
}
