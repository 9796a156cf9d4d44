package understudy.engine.sglang;

import java.util.Collection;
import org.jspecify.annotations.Nullable;
import understudy.engine.RankRules;

/**
 * Agreement of the ranks of DP attention on their prefills ({@code prefill_delayer.py}, {@code
 * _arm_prefill_decode_interval}). A prefill of any rank begins the interval of all. The delayer first waits, for a number of
 * turns at most, until all ranks have something to prefill; if they do, it is the one of a single engine, with the most
 * running and waiting requests of a rank and the largest prefill batch of all. If one of those that could prefill has few
 * tokens in use, none waits.
 *
 * <p>How full a rank is, is known from its last attempt to prefill or decode.
 */
final class RankDelays implements RankRules.Agreement {
    private final int interval;
    private final @Nullable PrefillDelayer delayer;
    private int numDeferredTurns;

    /**
     * State of a rank before a turn.
     *
     * @param isAble whether it would try to prefill
     * @param isInUseLittle whether that is to go on because few of its tokens are in use
     */
    record State(boolean isAble, boolean isInUseLittle, int numRunning, int numWaiting, int largestBatch)
            implements RankRules.Word {}

    RankDelays(SglangConfig config) {
        interval = config.prefillDecodeInterval();
        var delay = config.prefillDelay();
        delayer = delay == null ? null : new PrefillDelayer(delay, config.maxRunningRequests());
    }

    @Override
    public RankRules.Turn next(
            Collection<? extends RankRules.Word> words, int numRanks, boolean hasPrefilled, long nowNanos) {
        if (hasPrefilled) {
            numDeferredTurns = interval;
        }
        if (numDeferredTurns > 0) {
            numDeferredTurns--;
            return new RankRules.Turn(true, false);
        }
        return new RankRules.Turn(false, delayer != null && delays(delayer, words, numRanks, nowNanos));
    }

    private static boolean delays(
            PrefillDelayer delayer, Collection<? extends RankRules.Word> words, int numRanks, long nowNanos) {
        int numAble = 0;
        int mostRunning = 0;
        int mostWaiting = 0;
        boolean isInUseLittle = false;
        for (var word : words) {
            var state = (State) word;
            numAble += state.isAble ? 1 : 0;
            isInUseLittle |= state.isAble && state.isInUseLittle;
            mostRunning = Math.max(mostRunning, state.numRunning);
            mostWaiting = Math.max(mostWaiting, state.numWaiting);
            delayer.onBatch(state.largestBatch);
        }
        if (numAble == 0 || isInUseLittle) {
            delayer.end(false, nowNanos);
            return false;
        }
        if (numAble < numRanks) {
            return delayer.delaysForOthers(nowNanos);
        }
        boolean delays = delayer.delays(mostRunning, mostWaiting, nowNanos);
        delayer.end(true, nowNanos);
        return delays;
    }
}
