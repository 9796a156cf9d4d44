package understudy.kvcache.connector;

import it.unimi.dsi.fastutil.longs.LongList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Several connectors as one (vLLM {@code MultiConnector}): all are asked, and the first that has anything brings it; all
 * are told of ends, and each may keep the blocks.
 *
 * <p>A job's number says which connector it belongs to.
 */
final class MultiConnector implements KvConnector {
    private final List<KvConnector> connectors;
    private int lastChosen;

    MultiConnector(List<KvConnector> connectors) {
        this.connectors = connectors;
    }

    @Override
    public ExternalMatch match(ConnectedRequest request, int numLocalTokens) {
        var chosen = ExternalMatch.NONE;
        for (int i = 0; i < connectors.size(); i++) {
            var match = connectors.get(i).match(request, numLocalTokens);
            if (match.isLater()) {
                return match;
            }
            if (chosen.numTokens() == 0 && match.numTokens() > 0) {
                chosen = match;
                lastChosen = i;
            }
        }
        return chosen;
    }

    /** The one that has answered last brings the tokens. */
    @Override
    public void onAllocated(ConnectedRequest request, int numLocalTokens, int numExternalTokens) {
        for (int i = 0; i < connectors.size(); i++) {
            connectors.get(i).onAllocated(request, numLocalTokens, i == lastChosen ? numExternalTokens : 0);
        }
    }

    @Override
    public void onPreempted(ConnectedRequest request) {
        connectors.forEach(connector -> connector.onPreempted(request));
    }

    @Override
    public boolean onEnded(ConnectedRequest request, boolean isComplete) {
        boolean isHeld = false;
        for (var connector : connectors) {
            isHeld |= connector.onEnded(request, isComplete);
        }
        return isHeld;
    }

    @Override
    public void onUnservedEnded(long requestId, @Nullable KvTransferParams params) {
        connectors.forEach(connector -> connector.onUnservedEnded(requestId, params));
    }

    @Override
    public List<TransferJob> onPlanned(List<? extends ConnectedRequest> scheduled, int[] numComputedTokens) {
        var jobs = new ArrayList<TransferJob>();
        for (int i = 0; i < connectors.size(); i++) {
            for (var job : connectors.get(i).onPlanned(scheduled, numComputedTokens)) {
                jobs.add(job.numbered(outside(job.job(), i)));
            }
        }
        return jobs;
    }

    @Override
    public long[] jobsToFlush() {
        long[] all = new long[0];
        for (int i = 0; i < connectors.size(); i++) {
            int which = i;
            long[] own = Arrays.stream(connectors.get(i).jobsToFlush())
                    .map(job -> outside(job, which))
                    .toArray();
            int end = all.length;
            all = Arrays.copyOf(all, end + own.length);
            System.arraycopy(own, 0, all, end, own.length);
        }
        return all;
    }

    /** Only one of them has a host's memory. */
    @Override
    public LongList lend(LongList keys) {
        return connectors.stream()
                .map(connector -> connector.lend(keys))
                .filter(lent -> !lent.isEmpty())
                .findFirst()
                .orElse(LongList.of());
    }

    @Override
    public void takeBack(LongList keys) {
        connectors.forEach(connector -> connector.takeBack(keys));
    }

    @Override
    public LongList acceptPromotion(long job, LongList keys, KvSource source) {
        return connectors.get(which(job)).acceptPromotion(job / connectors.size(), keys, source);
    }

    @Override
    public List<TransferJob> onJobEnded(long job, boolean isFailed) {
        return connectors.get(which(job)).onJobEnded(job / connectors.size(), isFailed).stream()
                .map(next -> next.numbered(outside(next.job(), which(job))))
                .toList();
    }

    private int which(long job) {
        return (int) (job % connectors.size());
    }

    private long outside(long job, int connector) {
        return job * connectors.size() + connector;
    }

    @Override
    public void lose(LongPredicate isLost) {
        connectors.forEach(connector -> connector.lose(isLost));
    }

    @Override
    public List<TierChange> drainChanges() {
        return connectors.stream()
                .flatMap(connector -> connector.drainChanges().stream())
                .toList();
    }

    @Override
    public List<TierState> tiers() {
        return connectors.stream()
                .flatMap(connector -> connector.tiers().stream())
                .toList();
    }

    @Override
    public void audit() {
        connectors.forEach(KvConnector::audit);
    }
}
