package understudy.engine;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.objects.ObjectArrayList;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import understudy.engine.RoseinferConfig.PrefillMode;
import understudy.engine.queue.WaitingQueues;
import understudy.kvcache.Admission;
import understudy.kvcache.AdmissionRequest;
import understudy.kvcache.KvAnswer;
import understudy.kvcache.KvAsk;
import understudy.kvcache.KvCacheConfig;
import understudy.kvcache.Reservation;

/**
 * The worker loop of roseinfer ({@code server.py}, {@code SchedulerManager}; {@code engine.py}, {@code
 * OnlineScheduler}): take in at most {@code max_batch_size} pending requests, compute those of their prompts that are
 * not cached, sample all their first tokens in the order of the requests, then run one decode step of at most {@code
 * max_batch_size} sessions, and begin again. Sessions take turns: who was served goes to the end. Their number is not
 * limited.
 *
 * <p>One forward is one plan. A request whose prompt is cached, or computed for another one of the round, is scheduled
 * with 0 tokens: its logits are known. If no prompt of a round is left to compute, its first tokens are a plan of their
 * own, which takes no time.
 *
 * <p>Differs from roseinfer in one way: prompts of a batch are not padded to the longest, the device computes their own
 * tokens only.
 */
public final class RoseinferPlanner implements Planner {
    private final RoseinferConfig config;
    private final int blockSize;
    private final RequestBook requests;
    private final WaitingQueues<EngineRequest> pending;
    private final RunningList sessions;
    private final StepPlan plan = new StepPlan();
    private final Reservation.Builder reservation = new Reservation.Builder();

    /**
     * Requests taken in that wait for their first token, in their order, and what the next forward computes of each.
     */
    private final ObjectArrayList<EngineRequest> round = new ObjectArrayList<>();

    private final IntArrayList roundTokens = new IntArrayList();
    private int numToAdmit;
    private boolean hasPrefill;
    private boolean isDecodeDue;
    private long numSteps;
    private long nowNanos;
    private @Nullable EngineRequest candidate;

    /** Creates an engine without requests. */
    public RoseinferPlanner(RoseinferConfig config, KvCacheConfig kvCache) {
        this.config = config;
        blockSize = kvCache.blockSize();
        requests = new RequestBook(kvCache, SchedulerConfig.VLLM.withDecodeCohortMinSeqs(DecodeCohort.NEVER));
        pending = requests.waiting;
        sessions = requests.running;
    }

    /** Returns the requests; among those that run, the session to be served next comes first. */
    @Override
    public RequestBook requests() {
        return requests;
    }

    @Override
    public void begin(long atNanos) {
        plan.begin(++numSteps);
        nowNanos = atNanos;
        hasPrefill = false;
        isDecodeDue &= sessions.size() > 0;
        if (round.isEmpty()) {
            numToAdmit = isDecodeDue || requests.admitsNone() ? 0 : Math.min(config.maxNumSeqs(), pending.size());
        }
    }

    @Override
    public @Nullable KvAsk next() {
        boolean isForwardFull = hasPrefill && config.prefill() == PrefillMode.SERIAL;
        if (numToAdmit > 0 && !isForwardFull) {
            var head = Objects.requireNonNull(pending.head());
            candidate = head;
            return new KvAsk.Admit(admissionRequest(head));
        }
        if (!round.isEmpty()) {
            planPrefill();
        } else if (plan.isEmpty() && sessions.size() > 0) {
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

    private AdmissionRequest admissionRequest(EngineRequest head) {
        return new AdmissionRequest(
                head.lookup(),
                Integer.MAX_VALUE,
                0,
                false,
                true,
                sessions.size() > 0,
                nowNanos,
                false,
                head.maxTotalTokens());
    }

    /** A request that does not fit ends the round; it waits, with all behind it, until others have ended. */
    private void onAdmission(Admission admission) {
        var head = Objects.requireNonNull(candidate);
        candidate = null;
        if (admission instanceof Admission.Admitted admitted) {
            pending.pop();
            sessions.add(head);
            plan.admit(head);
            head.onAdmitted(admitted, 0, nowNanos, blockSize);
            round.add(head);
            roundTokens.add(admitted.numScheduledTokens());
            hasPrefill |= admitted.numScheduledTokens() > 0;
            numToAdmit--;
        } else {
            numToAdmit = 0;
        }
    }

    private void requireGranted(int numGranted) {
        if (numGranted < plan.size()) {
            throw new IllegalStateException("the memory has refused blocks that it had set aside: " + numGranted
                    + " of " + plan.size() + " sessions may go on");
        }
    }

    @Override
    public StepPlan plan() {
        return plan;
    }

    @Override
    public @Nullable EngineRequest abort(long requestId) {
        var request = requests.abort(requestId);
        if (request != null) {
            int index = round.indexOf(request);
            if (index >= 0) {
                round.remove(index);
                roundTokens.removeInt(index);
            }
            numToAdmit = Math.min(numToAdmit, pending.size());
        }
        return request;
    }

    /** Plans the forward of what was taken in last, and, if the round is complete with it, everyone's first token. */
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
        int batchSize = Math.min(config.maxNumSeqs(), sessions.size());
        for (int i = 0; i < batchSize; i++) {
            var session = sessions.remove(0);
            sessions.add(session);
            reservation.add(session.handle(), session.numComputedTokens + 1, session.numComputedTokens + 1);
            schedule(session, 1, false);
        }
        isDecodeDue = false;
    }

    private void schedule(EngineRequest request, int numTokens, boolean isPartial) {
        int index = plan.size();
        int context = request.numComputedTokens;
        plan.schedule(request, numTokens);
        request.onScheduled(numTokens, plan.step(), false);
        plan.settle(index, context, isPartial);
    }
}
