package understudy.conform.sglang;

import it.unimi.dsi.fastutil.ints.Int2ObjectOpenHashMap;
import it.unimi.dsi.fastutil.ints.IntImmutableList;
import it.unimi.dsi.fastutil.ints.IntList;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
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
 * Fields of the turns of a replay, taken from scheduler and memory where the recorder took them: when a turn is planned,
 * and when its results are applied.
 */
final class TurnFields {
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
    private final SglangScheduler scheduler;
    private final RadixMemory memory;

    /** Requests that have arrived, and have neither ended nor been lost. */
    private final Map<String, SglangRequest> live = new LinkedHashMap<>();

    private final Int2ObjectOpenHashMap<String> names = new Int2ObjectOpenHashMap<>();
    private final Map<String, Integer> totals = new LinkedHashMap<>();

    /** Committed tokens of each request, with what is launched. */
    private final int[] numLaunched;

    private Map<String, Object> fields = new LinkedHashMap<>();
    private List<String> aborted = new ArrayList<>();
    private List<Map<String, Object>> results = new ArrayList<>();
    private Map<String, Object> accepted = new LinkedHashMap<>();
    private SglangPlan plan = new SglangPlan();
    private long numStored;
    private long numRemoved;
    private long numHitTokens;
    private long numInputTokens;

    TurnFields(SglangRecording recording, SglangScheduler scheduler, RadixMemory memory) {
        this.recording = recording;
        this.scheduler = scheduler;
        this.memory = memory;
        numLaunched = new int[recording.requests().size()];
    }

    /** Adds a request that has reached the scheduler. */
    void arrived(SglangRequest request) {
        live.put(request.name(), request);
        names.put(request.handle(), request.name());
    }

    private String nameOf(int handle) {
        return Objects.requireNonNull(names.get(handle));
    }

    /** Returns a request that has arrived, and has neither ended nor been lost, or null. */
    @Nullable SglangRequest find(long id) {
        return live.get(recording.requests().get((int) id).id());
    }

    /** Returns the requests that are asked to end before a turn. */
    List<SglangRequest> toAbort(int step) {
        return live.values().stream()
                .filter(request -> recording.requests().get((int) request.id()).number("abort_step", -1) == step)
                .sorted(Comparator.comparingLong(SglangRequest::id))
                .toList();
    }

    /**
     * Records that a request was asked to end before the next turn.
     *
     * @param isGone whether it has ended by that
     */
    void aborted(SglangRequest request, boolean isGone) {
        aborted.add(request.name());
        if (isGone) {
            live.remove(request.name());
        }
    }

    /** Begins a turn. */
    void begin(int step) {
        fields = new LinkedHashMap<>();
        results = new ArrayList<>();
        accepted = new LinkedHashMap<>();
        fields.put("step", step);
        if (!aborted.isEmpty()) {
            fields.put("aborted", aborted);
            aborted = new ArrayList<>();
        }
    }

    /** Takes what is planned, before anything else happens. */
    void planned(SglangPlan planned) {
        plan = planned;
        decided(planned);
        memoryFields("");
        var batch = planned.batch();
        if (batch != null && batch.mode() != SglangBatch.Mode.DECODE) {
            numHitTokens += planned.numHitTokens();
            numInputTokens += planned.numInputTokens();
        }
    }

    /** Returns what the verification of a batch gives, which is launched now: by the number of the first new token. */
    IntList launch(SglangBatch batch) {
        boolean verifies = recording.speculates() && batch.mode() == SglangBatch.Mode.DECODE;
        var counts = new int[verifies ? batch.size() : 0];
        for (int i = 0; i < batch.size() && recording.speculates(); i++) {
            var request = batch.request(i);
            int index = (int) request.id();
            if (!verifies) {
                numLaunched[index] = memory.numCommitted(request.handle());
                continue;
            }
            int first = numLaunched[index] - request.numPromptTokens() + 1;
            counts[i] = recording.requests().get(index).accepted(first);
            numLaunched[index] += counts[i];
            accepted.put(request.name(), counts[i]);
            count("verifications", 1);
            count("accepted", counts[i]);
        }
        return new IntImmutableList(counts);
    }

    /** Takes the tokens that a result has brought, by request. */
    void applied(Map<String, Object> result) {
        results.add(result);
    }

    /** Takes a look behind the results of the turn, and returns its fields. */
    Map<String, Object> endTurn() {
        roleFieldsAfter(plan);
        fields.put("accepted", accepted);
        fields.put("results", results);
        finished();
        memoryFields("_after");
        lengths("lengths_after", plan.batch());
        return fields;
    }

    private void decided(SglangPlan plan) {
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
        var chunked = scheduler.chunked();
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
        fields.put("waiting", names(scheduler.waiting()));
        fields.put("running", names(scheduler.running()));
        fields.put("batch_is_full", scheduler.isFull());
        fields.put("new_token_ratio", scheduler.newTokenRatio());
        var tables = new LinkedHashMap<String, Object>();
        var slots = new LinkedHashMap<String, Object>();
        for (var request : seated(batch)) {
            tables.put(request.name(), runs(memory.table(request.handle())));
            slots.put(request.name(), request.slot());
        }
        fields.put("tables", tables);
        fields.put("slots", slots);
        fields.put(
                "tried",
                plan.tried().stream()
                        .map(tried -> List.of(
                                tried.request().name(),
                                tried.numPrefixTokens(),
                                tried.hostHit(),
                                tried.result().name()))
                        .toList());
        lengths("lengths", batch);
        windowed(batch);
        roleFields(plan);
    }

    private void roleFields(SglangPlan plan) {
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
        fields.put("metadata_free", scheduler.numFreeMetadata());
        scheduler.roleQueues().forEach((name, queue) -> fields.put(name, names(queue)));
        var held = new LinkedHashMap<String, Object>();
        for (var request : scheduler.roleQueues().getOrDefault("transfer", List.of())) {
            held.put(request.name(), runs(memory.table(request.handle())));
        }
        for (var request : scheduler.waiting()) {
            held.put(request.name(), runs(memory.table(request.handle())));
        }
        fields.put("held_tables", held);
    }

    private void roleFieldsAfter(SglangPlan plan) {
        if (recording.role().isEmpty()) {
            return;
        }
        fields.put("metadata_free_after", scheduler.numFreeMetadata());
        fields.put("inflight", names(scheduler.roleQueues().getOrDefault("inflight", List.of())));
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

    private void windowed(@Nullable SglangBatch batch) {
        if (!recording.hasWindow()) {
            return;
        }
        var windowed = new ArrayList<List<Object>>();
        var taken = memory.takeWindowed();
        for (int i = 0; i < taken.size(); i += 3) {
            windowed.add(List.of(nameOf(taken.getInt(i)), taken.getInt(i + 1), taken.getInt(i + 2)));
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
        requests.addAll(scheduler.running());
        requests.removeIf(request -> request.slot() == 0);
        return requests;
    }

    private void lengths(String field, @Nullable SglangBatch batch) {
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

    private void memoryFields(String mark) {
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
        hostFields(mark);
        count("stored", (int) (memory.numStored() - numStored));
        count("removed", (int) (memory.numRemoved() - numRemoved));
        numStored = memory.numStored();
        numRemoved = memory.numRemoved();
    }

    private void hostFields(String mark) {
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
                .mapToObj(i -> List.<Object>of(nameOf(numbers.getInt(2 * i)), numbers.getInt(2 * i + 1)))
                .toList();
    }

    private void finished() {
        var finished = live.values().stream()
                .filter(SglangRequest::isFinished)
                .map(SglangRequest::name)
                .sorted()
                .toList();
        finished.forEach(live::remove);
        fields.put("finished", finished);
    }

    /** Returns what is left at the end. */
    Map<String, Object> end() {
        var fields = new LinkedHashMap<String, Object>();
        fields.put("free_order", runs(memory.freeOrder()));
        fields.put("swa_free_order", runs(memory.windowFreeOrder()));
        fields.put("release_order", runs(memory.releaseOrder()));
        fields.put("host_free_order", runs(memory.hostFreeOrder()));
        if (recording.hasWindow()) {
            fields.put("swa_size", memory.numWindowFree() + memory.numWindowEvictable() + memory.numWindowProtected());
        }
        fields.put("free_slots", IntStream.of(scheduler.freeSlots()).boxed().toList());
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

    static List<String> names(List<SglangRequest> requests) {
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
