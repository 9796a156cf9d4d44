package understudy.engine.roseinfer;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.objects.ObjectArrayList;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import understudy.engine.EngineRequest;
import understudy.engine.PlainEngine;
import understudy.engine.PlainRequest;
import understudy.engine.roseinfer.RoseinferConfig.PrefillMode;
import understudy.kvcache.Admission;
import understudy.kvcache.KvAnswer;
import understudy.kvcache.KvAsk;
import understudy.kvcache.Reservation;
import understudy.kvcache.content.PromptConfig;

/**
 * The worker loop of roseinfer ({@code server.py}, {@code SchedulerManager}; {@code engine.py}, {@code
 * OnlineScheduler}): take in at most {@code max_batch_size} pending requests, compute those of their prompts that are
 * not cached, sample all their first tokens in the order of the requests, then run one decode step of at most {@code
 * max_batch_size} sessions, and begin again. Sessions take turns: a served one goes to the end. Their number is not
 * limited.
 *
 * <p>One forward is one plan. A request whose prompt is cached, or computed for another one of the round, is scheduled
 * with 0 tokens: its logits are known. If no prompt of a round is left to compute, its first tokens are a plan of their
 * own, which takes no time.
 *
 * <p>Differs from roseinfer in one way: prompts of a batch are not padded to the longest, the device computes their own
 * tokens only.
 */
public final class RoseinferPlanner extends PlainEngine {
    private final RoseinferConfig config;
    private final Reservation.Builder reservation = new Reservation.Builder();

    /**
     * Requests taken in that wait for their first token, in their order, and what the next forward computes of each.
     */
    private final ObjectArrayList<PlainRequest> round = new ObjectArrayList<>();

    private final IntArrayList roundTokens = new IntArrayList();
    private int numToAdmit;
    private boolean hasPrefill;
    private boolean isDecodeDue;

    /** Creates an engine without requests. */
    public RoseinferPlanner(RoseinferConfig config, PromptConfig kvCache) {
        super(kvCache);
        this.config = config;
    }

    @Override
    public void begin(long atNanos) {
        super.begin(atNanos);
        hasPrefill = false;
        isDecodeDue &= numRunning() > 0;
        if (round.isEmpty()) {
            numToAdmit = isDecodeDue || admitsNone() ? 0 : Math.min(config.maxNumSeqs(), numWaiting());
        }
    }

    @Override
    public @Nullable KvAsk next() {
        boolean isForwardFull = hasPrefill && config.prefill() == PrefillMode.SERIAL;
        if (numToAdmit > 0 && !isForwardFull) {
            return new KvAsk.Admit(admission(Objects.requireNonNull(head())));
        }
        if (!round.isEmpty()) {
            planPrefill();
        } else if (plan().isEmpty() && numRunning() > 0) {
            planDecode();
            return new KvAsk.Reserve(reservation.build(), false);
        }
        return null;
    }

    @Override
    public void answer(KvAnswer answer) {
        if (answer instanceof KvAnswer.Reserved reserved) {
            requireGranted(reserved.numGranted());
        } else if (answer instanceof KvAnswer.Admitted admitted) {
            onAdmission(admitted.admission());
        }
    }

    /** A request that does not fit ends the round; it waits, with all behind it, until others have ended. */
    private void onAdmission(Admission admission) {
        if (admission instanceof Admission.Admitted admitted) {
            round.add(admit(admitted));
            roundTokens.add(admitted.numScheduledTokens());
            hasPrefill |= admitted.numScheduledTokens() > 0;
            numToAdmit--;
        } else {
            numToAdmit = 0;
        }
    }

    private void requireGranted(int numGranted) {
        if (numGranted < plan().size()) {
            throw new IllegalStateException("the memory has refused blocks that it had set aside: " + numGranted
                    + " of " + plan().size() + " sessions may go on");
        }
    }

    @Override
    public @Nullable EngineRequest abort(long requestId) {
        var request = super.abort(requestId);
        if (request != null) {
            int index = round.indexOf(request);
            if (index >= 0) {
                round.remove(index);
                roundTokens.removeInt(index);
            }
            numToAdmit = Math.min(numToAdmit, numWaiting());
        }
        return request;
    }

    /** Plans the forward of the requests taken in last, and all first tokens if the round is complete with it. */
    private void planPrefill() {
        boolean isComplete = numToAdmit == 0;
        for (int i = 0; i < round.size(); i++) {
            int numTokens = roundTokens.set(i, 0);
            if (numTokens > 0 || isComplete) {
                schedule(round.get(i), numTokens, !isComplete);
            }
        }
        if (isComplete) {
            round.clear();
            roundTokens.clear();
            isDecodeDue = true;
        }
    }

    /** Serves the sessions whose turn it is, who go to the end. */
    private void planDecode() {
        reservation.clear();
        int batchSize = Math.min(config.maxNumSeqs(), numRunning());
        for (int i = 0; i < batchSize; i++) {
            var session = running().remove(0);
            running().add(session);
            int numTokens = session.numComputedTokens() + 1;
            reservation.add(session.handle(), numTokens, numTokens);
            schedule(session, 1, false);
        }
        isDecodeDue = false;
    }
}
