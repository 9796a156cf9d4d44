package understudy.fuzz;

import static understudy.fuzz.BrokenLawException.require;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.engine.EngineCore;
import understudy.engine.EngineRequest;
import understudy.engine.RequestLimits;
import understudy.engine.speculation.DraftOutput;
import understudy.engine.speculation.SyntheticDrafts;
import understudy.kvcache.KvAsk;
import understudy.kvcache.KvCache;
import understudy.kvcache.KvCacheSpec;
import understudy.scenario.Scenario;
import understudy.workload.RandomStreams;

/** A replica's scheduler and KV memory, joined by plain calls, with a random hand that disturbs them. Not reusable. */
final class MemoryRun {
    private static final int MAX_REQUESTS = 300;
    private static final int MAX_UNFINISHED = 30;
    private static final int MAX_STEPS = 200_000;
    private static final int MAX_BLOCKS_ADDED = 6;

    private final Dice dice;
    private final KvCacheSpec config;
    private final RequestLimits limits;
    private final KvCache memory;
    private final EngineCore engine;
    private final Conversations conversations;
    private final PrefixLaw prefixLaw;
    private final EngineLaws laws;
    private final @Nullable SyntheticDrafts device;
    private final List<EngineRequest> known = new ArrayList<>();
    private int numToCome;
    private int numInFlight;
    private long now;

    MemoryRun(Scenario scenario) {
        dice = new Dice(new RandomStreams(scenario.seed()).stream("memory"));
        var spec = scenario.engine().withConnector(null);
        config = spec.kvCache();
        limits = spec.limits();
        memory = spec.createMemory();
        engine = new EngineCore(spec);
        conversations = new Conversations(dice, config.maxModelLen(), MAX_BLOCKS_ADDED * config.blockSize());
        prefixLaw = new PrefixLaw(config, memory);
        laws = new EngineLaws(spec, engine.engine().load(), memory);
        var drafts = spec.drafts();
        var random = new RandomStreams(scenario.seed()).stream("drafts");
        device = drafts == null ? null : new SyntheticDrafts(drafts, random::nextDouble);
        numToCome = (int) Math.min(MAX_REQUESTS, scenario.workload().numRequests());
    }

    void run() {
        while (numToCome > 0) {
            disturb();
            step();
        }
        resize(config.numGpuBlocks());
        while (numInFlight > 0 || numUnfinished() > 0 || engine.engine().hasWork()) {
            require(now < MAX_STEPS, "everything ends", () -> numUnfinished() + " requests are left");
            step();
        }
        laws.checkEnd();
    }

    /** Returns the requests that have not ended, without those that the engine has forgotten. */
    private int numUnfinished() {
        return engine.engine().load().numUnfinished() - engine.engine().lost().size();
    }

    private void disturb() {
        if (dice.oneIn(2) && numUnfinished() < MAX_UNFINISHED) {
            add();
        }
        if (dice.oneIn(20) && !known.isEmpty()) {
            abort(dice.pick(known));
        }
        if (dice.oneIn(60)) {
            reset();
        }
        if (dice.oneIn(80)) {
            resize(dice.between(2, config.numGpuBlocks()));
        }
    }

    /** Adds a request, unless it is too long. */
    private void add() {
        numToCome--;
        var request = engine.fit(conversations.next(now));
        if (engine.refusal(request).isEmpty()) {
            known.add(engine.engine().add(request, now));
        }
    }

    private void abort(EngineRequest request) {
        if (engine.engine().abort(request.id()) != null) {
            memory.free(request.handle(), request.lastStep());
        }
    }

    private void reset() {
        boolean resetsRunning = dice.oneIn(2);
        if (resetsRunning) {
            engine.engine().preemptAll().forEach(request -> memory.release(request.handle(), request.lastStep()));
        }
        if (memory.resetPrefixCache()) {
            prefixLaw.onReset();
            laws.checkReset();
        }
    }

    /** Changes how many blocks there are; gives up, as a replica does, what does not fit any more. */
    private void resize(int numBlocks) {
        if (config.isResizable()) {
            engine.onMemoryResized(limits.withKvBlocks(numBlocks, config.blockSize()));
            known.stream()
                    .filter(request -> engine.refusal(request.request()).isPresent())
                    .forEach(this::abort);
            memory.resize(numBlocks);
        }
    }

    /** Plans a step if there is room for one, and applies the result of the oldest one if there is none, or by chance. */
    private void step() {
        boolean isPlanned = engine.beginPlan(++now) && plan();
        if (numInFlight > 0 && (!isPlanned || dice.oneIn(2))) {
            update();
        }
        laws.checkMemory();
    }

    /** Returns whether there is anything in the plan. */
    private boolean plan() {
        var asker = engine.engine();
        for (KvAsk ask = asker.next(); ask != null; ask = asker.next()) {
            asker.answer(prefixLaw.answer(ask));
        }
        var plan = engine.endPlan(now);
        laws.checkPlan(plan);
        numInFlight += plan.isEmpty() ? 0 : 1;
        return !plan.isEmpty();
    }

    private void update() {
        numInFlight--;
        var verified = device == null
                ? DraftOutput.NONE
                : device.execute(engine.oldestInFlight().draftsToVerify());
        var result = engine.update(++now, verified);
        var settlement = result.toSettle();
        if (settlement != null) {
            prefixLaw.onSettled(settlement);
            memory.settle(settlement);
        }
        for (var ended : result.finished()) {
            conversations.onEnded(ended);
            known.remove(ended);
        }
    }
}
