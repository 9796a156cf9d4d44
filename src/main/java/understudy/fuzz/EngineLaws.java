package understudy.fuzz;

import static understudy.fuzz.BrokenLawException.require;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import understudy.engine.EngineLoad;
import understudy.engine.EngineRequest;
import understudy.engine.EngineSpec;
import understudy.engine.EngineTraits;
import understudy.engine.EngineTraits.Feature;
import understudy.engine.StepPlan;
import understudy.kvcache.KvCache;
import understudy.kvcache.KvEvent;

/** Laws of a scheduler and its KV memory that hold after every step. */
final class EngineLaws {
    private final EngineSpec settings;
    private final EngineTraits traits;
    private final EngineLoad requests;
    private final KvCache memory;
    private long numStored;

    EngineLaws(EngineSpec settings, EngineLoad requests, KvCache memory) {
        this.settings = settings;
        traits = settings.traits();
        this.requests = requests;
        this.memory = memory;
    }

    void checkPlan(StepPlan plan) {
        int numTokens = 0;
        int numForwards = 0;
        for (int i = 0; i < plan.size(); i++) {
            numTokens += plan.numScheduledTokens(i);
            numForwards += plan.numScheduledTokens(i) > 0 ? 1 : 0;
        }
        boolean keepsLimits = numTokens == plan.totalScheduledTokens()
                && numTokens <= traits.maxNumBatchedTokens()
                && numForwards <= traits.maxNumSeqs();
        String counts = numTokens + " tokens, " + plan.totalScheduledTokens() + " in total, of " + numForwards;
        require(keepsLimits, "limits of a step", () -> counts);
        boolean admits = !plan.admitted().isEmpty() || !plan.resumed().isEmpty();
        boolean mayAdmit = plan.preempted().isEmpty() || traits.has(Feature.PREEMPTS_FOR_OTHERS);
        require(mayAdmit || !admits, "no admission with a preemption", plan.preempted()::toString);
        plan.admitted().forEach(EngineLaws::checkCached);
        if (traits.has(Feature.BOUNDED_RUNNING)) {
            checkRunning();
        }
    }

    private static void checkCached(EngineRequest admitted) {
        require(
                admitted.numCachedTokens() <= admitted.numPromptTokens(),
                "cached tokens of a prompt",
                () -> admitted.numCachedTokens() + " of " + admitted.numPromptTokens());
    }

    /**
     * Every running request holds exactly the blocks for what it has computed, or more for drafts that were rejected, and
     * the lookahead; with sessions, tables may be shared, and with groups they have gaps.
     */
    private void checkRunning() {
        int numRunning = requests.numRunning();
        require(numRunning <= traits.maxNumSeqs(), "max-num-seqs", () -> numRunning + " run");
        if (!settings.kvCache().isResizable()) {
            return;
        }
        var handles = new IntArrayList();
        for (int i = 0; i < numRunning; i++) {
            handles.add(requests.running(i).handle());
        }
        var tables = memory.snapshot(handles).blockTables();
        int blockSize = settings.kvCache().blockSize();
        int maxBlocksOfDrafts = (settings.limits().maxTokensBeyondEnd() + blockSize - 1) / blockSize;
        for (int i = 0; i < numRunning; i++) {
            var request = requests.running(i);
            int numBlocks = tables.get(i).size();
            int numNeeded = (request.numComputedTokens() + blockSize - 1) / blockSize;
            boolean isRight = numNeeded <= numBlocks && numBlocks <= numNeeded + maxBlocksOfDrafts;
            require(isRight, "block tables", () -> request + " holds " + numBlocks + " blocks");
        }
    }

    void checkMemory() {
        var audit = memory.audit();
        require(audit.isConserved(), "block conservation", audit::toString);
        if (settings.kvCache().recordsEvents() && settings.kvCache().isResizable()) {
            memory.drainEvents().forEach(this::count);
            require(audit.numHashed() == numStored, "KV events", () -> numStored + " blocks were told of; " + audit);
        }
    }

    private void count(KvEvent event) {
        if (event instanceof KvEvent.Stored stored) {
            numStored += stored.blockHashes().size();
        } else if (event instanceof KvEvent.StoredEach each) {
            numStored += each.blockHashes().size();
        } else if (event instanceof KvEvent.Removed removed) {
            numStored -= removed.blockHashes().size();
        } else {
            numStored = 0;
        }
    }

    /** Requires that no hash is left after all cached content was dropped. */
    void checkReset() {
        require(memory.audit().numHashed() == 0, "reset", () -> "left: " + memory.audit());
    }

    /** Checks that nothing is in use when all requests have ended. */
    void checkEnd() {
        require(memory.usage() == 0, "block conservation", () -> "in use at the end: " + memory.audit());
        require(memory.resetPrefixCache(), "reset", () -> "refused at the end: " + memory.audit());
        checkReset();
    }
}
