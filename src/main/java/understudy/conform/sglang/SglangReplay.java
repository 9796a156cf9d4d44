package understudy.conform.sglang;

import it.unimi.dsi.fastutil.ints.IntList;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import understudy.conform.Conformance;
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
    private final SglangRecording recording;
    private final SglangScheduler scheduler;
    private final RadixMemory memory;
    private final TurnFields fields;
    private final List<Integer> arrivals;
    private final ArrayDeque<Launched> inFlight = new ArrayDeque<>();
    private final boolean overlaps;
    private int numArrived;
    private boolean hadBatch;
    private int now;

    /** Batch that was launched, with what its verification gives. */
    private record Launched(SglangBatch batch, IntList numAccepted) {}

    private SglangReplay(SglangRecording recording) {
        this.recording = recording;
        var config = recording.schedulerConfig();
        overlaps = config.overlaps();
        scheduler = SglangScheduler.create(config);
        memory = RadixMemory.create(config.memory());
        fields = new TurnFields(recording, scheduler, memory);
        arrivals = recording.arrivalOrder();
    }

    /** Replays a recording, and compares every field of every turn. */
    public static Conformance replay(SglangRecording recording) {
        var replay = new SglangReplay(recording);
        var turns = new ArrayList<Map<String, Object>>();
        for (int step = 0; step < recording.steps().size(); step++) {
            turns.add(replay.turn(step));
        }
        return recording.compare(turns, replay.fields.end());
    }

    private Map<String, Object> turn(int step) {
        now = step;
        arrive(step);
        fields.toAbort(step).forEach(request -> fields.aborted(request, scheduler.abort(request)));
        fields.begin(step);
        memory.setTurn(step);
        var plan = plan();
        fields.planned(plan);
        var batch = plan.batch();
        if (batch != null) {
            inFlight.add(new Launched(batch, fields.launch(batch)));
        }
        boolean isResultDue = overlaps ? hadBatch : batch != null;
        if (isResultDue) {
            fields.applied(apply(inFlight.remove()));
        }
        if (batch == null && !isResultDue && inFlight.isEmpty()) {
            scheduler.onIdle(memory.hasPendingCopies());
        }
        memory.answer(scheduler.endTurn());
        hadBatch = batch != null;
        return fields.endTurn();
    }

    private void arrive(int step) {
        while (numArrived < arrivals.size()) {
            int index = arrivals.get(numArrived);
            if (recording.requests().get(index).number("arrival_step") > step) {
                return;
            }
            numArrived++;
            var request = recording.requests().get(index).request(index);
            var added = new SglangRequest(scheduler.config(), request, recording.options(index, () -> now), index, 0);
            scheduler.add(added);
            fields.arrived(added);
        }
    }

    private SglangPlan plan() {
        scheduler.begin();
        for (var ask = scheduler.next(); ask != null; ask = scheduler.next()) {
            var answer = memory.answer(ask);
            if (ask.awaitsAnswer()) {
                scheduler.answer(answer);
            }
        }
        return scheduler.plan();
    }

    private Map<String, Object> apply(Launched launched) {
        var result = new LinkedHashMap<String, Object>();
        memory.answer(scheduler.update(
                launched.batch(),
                launched.numAccepted().toIntArray(),
                (request, numTokens) -> result.put(request.name(), numTokens)));
        return result;
    }
}
