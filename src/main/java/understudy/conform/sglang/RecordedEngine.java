package understudy.conform.sglang;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.ints.IntList;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import understudy.engine.Engine;
import understudy.engine.EngineLoad;
import understudy.engine.EngineRequest;
import understudy.engine.Request;
import understudy.engine.StepPlan;
import understudy.engine.StepResult;
import understudy.engine.sglang.SglangEngine;
import understudy.engine.sglang.SglangRequest;
import understudy.engine.speculation.DraftOutput;
import understudy.kvcache.KvAnswer;
import understudy.kvcache.KvAsk;
import understudy.kvcache.radix.RadixAnswer;
import understudy.kvcache.radix.RadixAsk;
import understudy.kvcache.radix.RadixMemory;

/**
 * Engine of a replica on which a recording is replayed: SGLang's, whose turns are taken down. Before and after each plan
 * it puts a question of its own, so that the look at the memory comes when all that was said before has been heeded.
 *
 * <p>The recorder makes a turn in each instant, also when there is nothing to do; so this engine always claims to have
 * work, until the recording is over.
 */
final class RecordedEngine implements Engine, EngineLoad {
    private enum Phase {
        BEFORE,
        WITHIN,
        AFTER,
        OVER
    }

    private final SglangRecording recording;
    private final SglangEngine engine;
    private final RadixMemory memory;
    private final TurnFields fields;
    private final List<Map<String, Object>> turns = new ArrayList<>();
    private final List<SglangRequest> live = new ArrayList<>();

    /** Tokens that the verifications in flight give each request; empty where there are no drafts. */
    private final ArrayDeque<IntList> launched = new ArrayDeque<>();

    private Phase phase = Phase.OVER;

    /** Whether there is a plan of this turn already, so that this one is to be empty. */
    private boolean isRepeated;

    private boolean isTurnOpen;
    private int turn;
    private long beganNanos;

    RecordedEngine(SglangRecording recording, RadixMemory memory) {
        this.recording = recording;
        this.memory = memory;
        engine = new SglangEngine(
                recording.schedulerConfig(), request -> recording.options((int) request.id(), () -> turn));
        fields = new TurnFields(recording, engine.scheduler(), memory);
    }

    /** Returns the fields of all turns, once the recording is over. */
    List<Map<String, Object>> turns() {
        endTurn();
        return turns;
    }

    /** Returns what is left at the end. */
    Map<String, Object> end() {
        return fields.end();
    }

    /** Returns whether a batch is in flight. */
    boolean awaitsResult() {
        return !launched.isEmpty();
    }

    private boolean isOver() {
        return turns.size() + (isTurnOpen ? 1 : 0) >= recording.steps().size();
    }

    private void endTurn() {
        if (isTurnOpen) {
            memory.answer(engine.scheduler().endTurn());
            turns.add(fields.endTurn());
            isTurnOpen = false;
        }
    }

    /** Question about nothing: what is done when it is answered, is done in the memory's actor. */
    private record Look(Runnable whenAnswered) implements RadixAsk {
        @Override
        public RadixAnswer decide(RadixMemory memory) {
            whenAnswered.run();
            return RadixAnswer.DONE;
        }
    }

    @Override
    public EngineRequest add(Request request, long atNanos) {
        var added = engine.add(request, atNanos);
        var found = engine.find(request.id());
        if (found != null) {
            fields.arrived(found);
            live.add(found);
        }
        return added;
    }

    @Override
    public @Nullable EngineRequest find(long requestId) {
        return engine.find(requestId);
    }

    /** Gives up a request; one that ended for its sender with the prefill is still here until its KV has been sent. */
    @Override
    public @Nullable EngineRequest abort(long requestId) {
        var request = fields.find(requestId);
        if (request == null) {
            return null;
        }
        // What an abort changes belongs to the next turn.
        endTurn();
        boolean isGone = engine.scheduler().waiting().contains(request);
        if (engine.abort(requestId) == null) {
            isGone = engine.scheduler().abort(request);
        }
        fields.aborted(request, isGone);
        return request;
    }

    @Override
    public void begin(long atNanos) {
        int instant = (int) (atNanos / SglangActorReplay.NANOS_PER_TURN);
        isRepeated = isOver() || instant < turns.size() + (isTurnOpen ? 1 : 0);
        phase = isRepeated ? Phase.OVER : Phase.BEFORE;
        beganNanos = atNanos;
    }

    private void beginTurn() {
        endTurn();
        turn = turns.size();
        isTurnOpen = true;
        fields.begin(turn);
        memory.setTurn(turn);
    }

    @Override
    public @Nullable KvAsk next() {
        if (phase == Phase.WITHIN) {
            var ask = engine.next();
            if (ask != null) {
                return ask;
            }
            phase = Phase.AFTER;
        }
        return phase == Phase.OVER ? null : new Look(phase == Phase.BEFORE ? this::beginTurn : () -> {});
    }

    @Override
    public void answer(KvAnswer answer) {
        if (phase == Phase.WITHIN) {
            engine.answer(answer);
        } else if (phase == Phase.BEFORE) {
            engine.begin(beganNanos);
            phase = Phase.WITHIN;
        } else {
            phase = Phase.OVER;
        }
    }

    @Override
    public StepPlan plan() {
        if (isRepeated) {
            return new StepPlan();
        }
        var plan = engine.plan();
        var turnPlan = engine.scheduler().lastPlan();
        fields.planned(turnPlan);
        var batch = turnPlan.batch();
        if (batch != null) {
            launched.add(fields.launch(batch));
        }
        return plan;
    }

    @Override
    public StepResult update(StepPlan executed, long atNanos, DraftOutput output) {
        var numBefore = live.stream().mapToInt(SglangRequest::numOutputTokens).toArray();
        var accepted = new IntArrayList(launched.remove());
        accepted.replaceAll(count -> count - 1);
        var result = engine.update(executed, atNanos, new DraftOutput(accepted, IntList.of()));
        var sampled = new LinkedHashMap<String, Object>();
        for (int i = 0; i < numBefore.length; i++) {
            int count = live.get(i).numOutputTokens() - numBefore[i];
            if (count > 0) {
                sampled.put(live.get(i).name(), count);
            }
        }
        fields.applied(sampled);
        return result;
    }

    @Override
    public boolean hasWork() {
        return !isOver();
    }

    @Override
    public int numToServe() {
        return isOver() ? 0 : Math.max(1, engine.numToServe());
    }

    @Override
    public boolean parks(StepPlan empty, boolean isWoken) {
        if (!isRepeated) {
            engine.scheduler().onIdle(memory.hasPendingCopies());
        }
        return false;
    }

    @Override
    public List<GivenUp> takeGivenUp() {
        return engine.takeGivenUp();
    }

    @Override
    public void setAdmitsNone(boolean admitsNone) {
        engine.setAdmitsNone(admitsNone);
    }

    @Override
    public EngineLoad load() {
        return this;
    }

    @Override
    public int numUnfinished() {
        return isOver() ? 0 : Math.max(1, engine.load().numUnfinished());
    }

    @Override
    public int numRunning() {
        return engine.load().numRunning();
    }

    @Override
    public EngineRequest running(int index) {
        return engine.load().running(index);
    }

    @Override
    public int numWaiting() {
        return engine.load().numWaiting();
    }

    @Override
    public long pendingPrefillTokens() {
        return engine.load().pendingPrefillTokens();
    }
}
