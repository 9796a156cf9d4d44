package understudy.conform;

import it.unimi.dsi.fastutil.ints.IntOpenHashSet;
import it.unimi.dsi.fastutil.ints.IntSet;
import it.unimi.dsi.fastutil.longs.Long2IntRBTreeMap;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongList;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import it.unimi.dsi.fastutil.longs.LongSet;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import understudy.engine.EngineRequest;
import understudy.engine.StepPlan;
import understudy.engine.vllm.LoadFailure;
import understudy.engine.vllm.StepPlanner;

/** Worker of a recorded run whose requests say how long a transfer takes, and whether it fails. */
final class ScriptedWorker extends ReplayWorker {
    private final ScriptedConnector connector;
    private final Long2IntRBTreeMap dueReceives = new Long2IntRBTreeMap();
    private final Long2IntRBTreeMap dueSends = new Long2IntRBTreeMap();
    private final Long2ObjectOpenHashMap<IntSet> invalidOfReceives = new Long2ObjectOpenHashMap<>();
    private final Long2ObjectOpenHashMap<IntSet> invalidOfSteps = new Long2ObjectOpenHashMap<>();
    private final LongSet failedOnce = new LongOpenHashSet();
    private List<LoadFailure.Affected> affected = List.of();
    private Output output = new Output(LongList.of(), LongList.of(), IntSet.of());

    ScriptedWorker(RecordedRun run, StepPlanner planner) {
        this(run, planner, new ScriptedConnector(run));
    }

    private ScriptedWorker(RecordedRun run, StepPlanner planner, ScriptedConnector connector) {
        super(run, planner, connector);
        this.connector = connector;
    }

    /** Transfers that are reported with one update. */
    private record Output(LongList received, LongList sent, IntSet invalid) {}

    /** Starts the transfers of a step that was planned; returns the recording's fields about it. */
    @Override
    Map<String, Object> onPlanned(int step, long planStep) {
        for (var load : connector.takeLoads()) {
            if (load.isAsync()) {
                dueReceives.put(
                        load.requestId(), step + transfer(load.requestId()).steps());
            }
            fail(load, planStep);
        }
        return super.onPlanned(step, planStep);
    }

    private void fail(ScriptedConnector.Load load, long planStep) {
        int fail = transfer(load.requestId()).fail();
        boolean isFree = load.isAsync() || !invalidOfSteps.containsKey(planStep);
        if (fail >= 0 && isFree && failedOnce.add(load.requestId())) {
            int block = load.blocks().getInt(Math.min(fail, load.blocks().size() - 1));
            var invalid = load.isAsync() ? invalidOfReceives : invalidOfSteps;
            invalid.put(load.isAsync() ? load.requestId() : planStep, new IntOpenHashSet(new int[] {block}));
        }
    }

    private RecordedConnector.Transfer transfer(long requestId) {
        return Objects.requireNonNull(run.requests().get((int) requestId).transfer());
    }

    /** Reports failed loads before the result of a step is applied. */
    @Override
    void beforeUpdate(int step, StepPlan executed) {
        output = output(step, executed);
        affected = List.of();
        if (output.invalid.isEmpty()) {
            return;
        }
        affected = planner.requests()
                .onBlocksInvalid(output.invalid, request -> memory.connected().blocksOf(request.id()), executed);
        for (var request : affected) {
            if (!recomputes() && request.isRunning() && request.firstInvalidBlock() >= 0) {
                int[] table = memory.connected().blocksOf(request.request().id());
                memory.connected().forget(Arrays.copyOfRange(table, request.firstInvalidBlock(), table.length));
            }
        }
    }

    private boolean recomputes() {
        return Objects.requireNonNull(run.config().connector()).recomputes();
    }

    private Output output(int step, StepPlan executed) {
        var received = due(dueReceives, step);
        if (!recomputes()) {
            deferFurtherFailures(received);
        }
        var sent = due(dueSends, step);
        var invalid = new IntOpenHashSet();
        var ofStep = invalidOfSteps.remove(executed.step());
        if (ofStep != null) {
            invalid.addAll(ofStep);
        }
        for (int i = 0; i < received.size(); i++) {
            dueReceives.remove(received.getLong(i));
            var ofReceive = invalidOfReceives.remove(received.getLong(i));
            if (ofReceive != null) {
                invalid.addAll(ofReceive);
            }
        }
        sent.forEach(dueSends::remove);
        return new Output(received, sent, invalid);
    }

    /** At most one receive of an update fails; others wait for the next one. */
    private void deferFurtherFailures(LongArrayList received) {
        boolean hasFailure = false;
        for (var ids = received.iterator(); ids.hasNext(); ) {
            boolean fails = invalidOfReceives.containsKey(ids.nextLong());
            if (fails && hasFailure) {
                ids.remove();
            }
            hasFailure |= fails;
        }
    }

    private static LongArrayList due(Long2IntRBTreeMap steps, int step) {
        var due = new LongArrayList();
        steps.long2IntEntrySet().forEach(entry -> {
            if (entry.getIntValue() <= step) {
                due.add(entry.getLongKey());
            }
        });
        return due;
    }

    @Override
    List<EngineRequest> afterUpdate() {
        var failed = recomputes()
                ? List.<EngineRequest>of()
                : affected.stream()
                        .<EngineRequest>map(LoadFailure.Affected::request)
                        .sorted(Comparator.comparingLong(EngineRequest::id))
                        .toList();
        log.setEndsWithError(true);
        failed.forEach(this::abort);
        log.setEndsWithError(false);
        output.received.forEach(this::arrive);
        output.sent.forEach(memory.connected()::release);
        return failed;
    }

    private void abort(EngineRequest request) {
        planner.abort(request.id());
        memory.free(request.handle(), request.lastStep());
    }

    /** Returns the recording's fields from the end of a step. */
    @Override
    Map<String, Object> onStepEnded(int step) {
        var fields = super.onStepEnded(step);
        var ended = log.takeEnded();
        for (var request : ended) {
            var entry = (List<?>) request;
            if (entry.get(2).equals(true)) {
                long id = idOf((String) entry.get(0));
                dueSends.put(id, step + transfer(id).steps());
            }
        }
        fields.put("ended", ended);
        var loading = new LinkedHashMap<String, Object>();
        loadingRequests().forEach(request -> loading.put(request.name(), request.numComputedTokens()));
        fields.put("loading_after", loading);
        fields.put("finished_recving", names(output.received.toLongArray()));
        fields.put("finished_sending", names(output.sent.toLongArray()));
        fields.put("invalid_blocks", output.invalid.intStream().sorted().boxed().toList());
        output = new Output(LongList.of(), LongList.of(), IntSet.of());
        return fields;
    }

    private long idOf(String name) {
        for (int i = 0; i < run.requests().size(); i++) {
            if (run.requests().get(i).id().equals(name)) {
                return i;
            }
        }
        throw new IllegalArgumentException("no request " + name);
    }
}
