package understudy.report;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.util.List;
import java.util.Optional;
import understudy.engine.lora.LoraCounts;
import understudy.engine.speculation.DraftCounts;
import understudy.figure.OwnFigures;
import understudy.kvcache.KvCacheAudit;
import understudy.kvcache.PrefixCacheEvent;
import understudy.kvcache.PrefixCacheEvents;
import understudy.kvcache.PrefixCacheStats;
import understudy.prompt.SessionTurn;
import understudy.report.transfers.ReplicaTransfers;

/**
 * A run of 10 s with three requests: one of 4 tokens, one of a single token, one that was turned away.
 *
 * <p>Request 0 arrives at 1 s, is queued at 1.1, admitted at 1.5, has tokens at 2, 3, 4 and 5 s. Request 1 arrives at 3 s,
 * is queued at 3.1, admitted at 3.1, has its token at 6 s. Request 2 arrives at 4 s.
 */
final class ReportFixture {
    static final long SECOND = 1_000_000_000;

    final RunLog log = new RunLog(true);
    KvCacheAudit audit = new KvCacheAudit(100, 99, 0, 0, 0, 0, 0);
    long numPlanned = 3;
    long numSent = 3;
    long numUnfinished;
    long numPeeks;
    long numPreemptionsWithdrawn;
    boolean isPartial;
    List<FleetStats.Point> history = List.of();
    Optional<FleetStats> fleet = Optional.empty();
    ReplicaTransfers transfers = ReplicaTransfers.NONE;

    ReportFixture() {
        log.addRequest(request(
                0, 0, Outcome.COMPLETED, 1.0, 1.1, 1.5, new long[] {2 * SECOND, 3 * SECOND, 4 * SECOND, 5 * SECOND}));
        log.addRequest(request(1, 1, Outcome.COMPLETED, 3.0, 3.1, 3.1, new long[] {6 * SECOND}));
        log.addRequest(request(2, 1, Outcome.REJECTED, 4.0, 4.0, 4.0, new long[0]));
        log.addGaps(new LongArrayList(new long[] {SECOND}), new IntArrayList(new int[] {3}));
        for (int second = 2; second <= 6; second++) {
            log.addStep(second == 6 ? 1 : 0, second * SECOND, 1, 1);
        }
    }

    RunRecord run() {
        return RunRecordBuilder.builder()
                .log(log)
                .replicas(List.of(
                        new RunRecord.ReplicaRecord(
                                stats(0, 1), audit, numUnfinished, numPeeks, numPreemptionsWithdrawn),
                        new RunRecord.ReplicaRecord(stats(1, 2), new KvCacheAudit(100, 99, 0, 0, 0, 0, 0), 0, 0, 0)))
                .numPlanned(numPlanned)
                .numSent(numSent)
                .endNanos(10 * SECOND)
                .isPartial(isPartial)
                .replicaHistory(history)
                .fleet(fleet)
                .build();
    }

    RunReport report() {
        return RunReport.of(run());
    }

    static HostStats host() {
        return new HostStats(0.5, 1_000, 2_000_000, 0, 0, 0);
    }

    private ReplicaStats stats(int index, int numRequests) {
        return ReplicaStatsBuilder.builder()
                .replicaIndex(index)
                .group("")
                .numRequests(numRequests)
                .numSteps(4)
                .numPrefillTokens(200)
                .numDecodeTokens(3)
                .busyNanos(5 * SECOND)
                .numPreemptions(index)
                .peakKvUsage(0.25)
                .prefixCache(new PrefixCacheStats(100, 40, 7, 3))
                .drafts(DraftCounts.NONE)
                .loras(LoraCounts.NONE)
                .transfers(transfers)
                .own(OwnFigures.NONE)
                .build();
    }

    static RequestRecord request(
            int id, int replica, Outcome outcome, double arrival, double queued, double scheduled, long[] tokens) {
        long firstToken = tokens.length > 0 ? tokens[0] : nanos(scheduled);
        long lastToken = tokens.length > 0 ? tokens[tokens.length - 1] : nanos(scheduled);
        return RequestRecordBuilder.builder()
                .requestId(id)
                .replicaIndex(replica)
                .outcome(outcome)
                .arrivalNanos(nanos(arrival))
                .queuedNanos(nanos(queued))
                .scheduledNanos(nanos(scheduled))
                .firstTokenNanos(firstToken)
                .lastTokenNanos(lastToken)
                .endNanos(lastToken)
                .numPromptTokens(100 * (id + 1))
                .numCachedTokens(Math.max(0, 48 * (1 - id)))
                .numOutputTokens(tokens.length)
                .numPreemptions(id % 2)
                .priority(id)
                .turn(id == 0 ? new SessionTurn(7, 2, 16) : SessionTurn.NONE)
                .events(events(id, outcome))
                .tokenNanos(new LongArrayList(tokens))
                .build();
    }

    /** Request 0 goes on with a conversation, and is the only one that finds anything. */
    private static PrefixCacheEvents events(int id, Outcome outcome) {
        if (outcome != Outcome.COMPLETED) {
            return PrefixCacheEvents.NONE;
        }
        return PrefixCacheEvents.of(id == 0 ? PrefixCacheEvent.CONVERSATIONAL_HIT : PrefixCacheEvent.MISS_FULL);
    }

    private static long nanos(double seconds) {
        return Math.round(seconds * SECOND);
    }
}
