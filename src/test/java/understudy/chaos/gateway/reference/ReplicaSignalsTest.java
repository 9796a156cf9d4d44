package understudy.chaos.gateway.reference;

import static org.assertj.core.api.Assertions.assertThat;

import it.unimi.dsi.fastutil.longs.LongList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import understudy.engine.OutputPlan;
import understudy.engine.Request;
import understudy.kvcache.KvEvent;
import understudy.prompt.Prompt;
import understudy.prompt.TokenIds;
import understudy.routing.ClusterView;

/** What is taken for cached by KV events, in blocks of 4 tokens with hashes 101, 102 and so on, and which replica is chosen. */
final class ReplicaSignalsTest {
    private static final int[] TOKENS = IntStream.range(0, 12).toArray();
    private static final Prompt PROMPT = new Prompt(new TokenIds(TOKENS));

    private final ReplicaSignals signals = new ReplicaSignals(WrongDecision.NONE);
    private long sequence;

    private void publish(KvEvent... events) {
        signals.onKvEvents(new KvEventBatch(sequence, sequence, List.of(events)), 0);
        sequence++;
    }

    private static KvEvent stored(int first, int count, int blockSize) {
        return new KvEvent.Stored(
                LongList.of(IntStream.range(first, first + count)
                        .mapToLong(i -> 101 + i)
                        .toArray()),
                first > 0,
                100 + first,
                new TokenIds(Arrays.copyOfRange(TOKENS, first * blockSize, (first + count) * blockSize)),
                0);
    }

    private int cached() {
        return signals.cachedTokens(PROMPT, 0);
    }

    @Test
    void blocksBehindTheirParentsAreFound_whateverTheirSize() {
        publish(stored(0, 2, 4));
        assertThat(cached()).isEqualTo(8);
        publish(stored(2, 1, 4));
        assertThat(cached()).isEqualTo(12);

        publish(stored(0, 2, 6));
        assertThat(cached()).isEqualTo(12);
    }

    @Test
    void removedBlock_endsThePrefix() {
        publish(stored(0, 3, 4));
        publish(new KvEvent.Removed(LongList.of(102)));
        assertThat(cached()).isEqualTo(4);

        publish(new KvEvent.Cleared());
        assertThat(cached()).isZero();
    }

    @Test
    void blockWithoutAKnownParent_isLeftOut() {
        publish(stored(1, 2, 4));
        assertThat(cached()).isZero();
    }

    @Test
    void lostBatch_forgetsWhatMayBeGone() {
        publish(stored(0, 3, 4));
        sequence++;
        IntStream.range(0, 8).forEach(i -> publish());
        assertThat(cached()).isEqualTo(12);

        // The ninth that waits for the lost one is one too many.
        publish();
        assertThat(cached()).isZero();
    }

    @Test
    void sentPromptCounts_for2Seconds_orUntilTheReplicaIsGone() {
        var prompt = new Prompt(new TokenIds(IntStream.range(0, 40).toArray()));
        signals.onSent(prompt, 0);
        // Two full blocks of 16 tokens.
        assertThat(signals.cachedTokens(prompt, 1_999_999_999)).isEqualTo(32);
        assertThat(signals.cachedTokens(prompt, 2_000_000_000)).isZero();

        signals.onSent(prompt, 0);
        signals.forget();
        assertThat(signals.cachedTokens(prompt, 1)).isZero();
    }

    @Test
    void requestFollowsTheEvents_untilLoadIsWorse() {
        var all = Stream.generate(() -> new ReplicaSignals(WrongDecision.NONE))
                .limit(2)
                .toList();
        var policy = new InformedPolicy(all);
        var view = new ClusterView();
        view.addReplica();
        view.addReplica();
        all.get(1).onKvEvents(new KvEventBatch(0, 0, List.of(stored(0, 3, 4))), 0);
        var request = Request.of(0, 0, PROMPT, 1, new OutputPlan(index -> 0, 1));

        assertThat(policy.choose(request, view)).isEqualTo(1);
        // One request under way counts for 64 tokens, and the cache saves 12.
        view.onDispatched(1);
        assertThat(policy.choose(request, view)).isZero();
    }
}
