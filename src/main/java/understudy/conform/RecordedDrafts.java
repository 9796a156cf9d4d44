package understudy.conform;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.ints.IntList;
import understudy.engine.StepPlan;
import understudy.engine.speculation.DraftOutput;

/**
 * Device of a recorded run, as far as drafts go: each request says in turn how many of its drafts are accepted, and how
 * many it gets.
 */
final class RecordedDrafts {
    private final RecordedRun run;
    private final int[] numVerified;
    private final int[] numProposed;

    RecordedDrafts(RecordedRun run) {
        this.run = run;
        numVerified = new int[run.requests().size()];
        numProposed = new int[run.requests().size()];
    }

    /** Returns the recorded result of the drafts of a step, whose result is to be applied now. */
    DraftOutput execute(StepPlan executed) {
        if (!run.config().speculation().isOn()) {
            return DraftOutput.NONE;
        }
        var accepted = new IntArrayList(executed.size());
        var proposed = new IntArrayList(executed.size());
        for (int i = 0; i < executed.size(); i++) {
            boolean isAnswering = !executed.isPartial(i) && !executed.request(i).isFinished();
            int request = (int) executed.request(i).id();
            accepted.add(isAnswering ? numAccepted(request, executed.numDraftsToVerify(i)) : 0);
            proposed.add(isAnswering ? next(run.requests().get(request).drafts(), numProposed, request) : 0);
        }
        return new DraftOutput(accepted, proposed);
    }

    private int numAccepted(int request, int numDrafts) {
        return numDrafts == 0
                ? 0
                : Math.min(next(run.requests().get(request).accept(), numVerified, request), numDrafts);
    }

    /** Returns the next element of a list that begins again at its end. */
    private int next(IntList list, int[] counts, int request) {
        return list.isEmpty()
                ? run.config().speculation().numSpeculativeTokens()
                : list.getInt(counts[request]++ % list.size());
    }
}
