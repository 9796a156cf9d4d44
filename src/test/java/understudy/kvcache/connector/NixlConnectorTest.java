package understudy.kvcache.connector;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import it.unimi.dsi.fastutil.ints.IntList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The scheduler's side of NIXL, and of several connectors; blocks have 16 tokens. */
final class NixlConnectorTest {
    private final NixlConnector connector = new NixlConnector(16);

    /** Request of 100 tokens in 7 blocks, of which some are cached. */
    private record Prompt(long requestId, @Nullable KvTransferParams transferParams, int numCachedBlocks)
            implements ConnectedRequest {
        @Override
        public int numTokens() {
            return 100;
        }

        @Override
        public int numPromptTokens() {
            return 100;
        }

        @Override
        public int numBlocks() {
            return 7;
        }

        @Override
        public int block(int index) {
            return 10 + index;
        }

        @Override
        public long hashOf(int blockIndex) {
            return blockIndex;
        }
    }

    private static Prompt prompt(int numCachedBlocks) {
        return new Prompt(1, KvTransferParams.remotePrefill(3, 100, 0), numCachedBlocks);
    }

    private List<TransferJob> jobs(KvConnector of) {
        return of.onPlanned(List.of(), new int[0]);
    }

    @Test
    void match_isAllBehindTheLocalHits() {
        // 100 - 32 = 68.
        assertThat(connector.match(prompt(2), 32)).isEqualTo(new ExternalMatch(68, true, KvSource.PEER));
        assertThat(connector.match(new Prompt(1, null, 0), 0)).isEqualTo(ExternalMatch.NONE);
        assertThat(connector.match(new Prompt(1, KvTransferParams.remotePrefill(3, 50, 0), 0), 0))
                .as("no more than is there")
                .isEqualTo(new ExternalMatch(50, true, KvSource.PEER));
    }

    @Test
    void read_isOfTheBlocksThatAreNotCachedAndHappensOnce() {
        connector.onAllocated(prompt(2), 32, 68);

        // Blocks 2 to 6 of the table.
        assertThat(jobs(connector))
                .containsExactly(new TransferJob(
                        0, TransferJob.Kind.READ, 1, 80, IntList.of(12, 13, 14, 15, 16), IntList.of(), 3));
        assertThat(jobs(connector)).isEmpty();
        assertThat(connector.match(prompt(0), 0)).as("after a preemption").isEqualTo(ExternalMatch.NONE);
    }

    @Test
    void fullLocalHit_isOnlyTold() {
        connector.onAllocated(prompt(7), 100, 0);

        assertThat(jobs(connector)).extracting(TransferJob::kind).containsExactly(TransferJob.Kind.NOTIFY);
    }

    @Test
    void endBeforeAdmission_isTold() {
        connector.onUnservedEnded(1, KvTransferParams.remotePrefill(3, 100, 0));
        connector.onUnservedEnded(2, null);

        assertThat(jobs(connector)).extracting(TransferJob::kind).containsExactly(TransferJob.Kind.NOTIFY_UNSERVED);
    }

    @Test
    void endAfterAdmission_isNotToldAgain() {
        connector.onAllocated(prompt(0), 0, 100);
        jobs(connector);

        assertThat(connector.onEnded(prompt(7), false)).isFalse();
        assertThat(jobs(connector)).isEmpty();
    }

    @Test
    void blocksStay_onlyOfAPromptThatIsComplete() {
        var leg = new Prompt(1, KvTransferParams.REMOTE_DECODE, 6);

        assertThat(connector.onEnded(leg, true)).isTrue();
        assertThat(connector.onEnded(leg, false)).isFalse();
    }

    @Test
    void severalConnectors_theFirstThatHasAnythingBringsIt() {
        var several = new MultiSpec(List.of(new NixlSpec(true, false), new NixlSpec(false, true))).create(16, true);
        assertThat(several.match(prompt(0), 0)).isEqualTo(new ExternalMatch(100, true, KvSource.PEER));
        several.onAllocated(prompt(0), 0, 100);

        // Both are told of the blocks, the second without external tokens: it has nothing to read, and says so. Job n
        // of
        // connector i is 2 n + i.
        assertThat(jobs(several))
                .extracting(TransferJob::job, TransferJob::kind)
                .containsExactly(tuple(0L, TransferJob.Kind.READ), tuple(1L, TransferJob.Kind.NOTIFY));
    }

    @Test
    void severalConnectors_needWhatAnyOfThemNeeds() {
        var spec = new MultiSpec(List.of(new NixlSpec(true, false), new NixlSpec(false, true)));

        assertThat(spec.requiresKvDelivery()).isTrue();
        assertThat(spec.defersFrees()).isTrue();
        assertThat(spec.readsPlans()).isFalse();
    }
}
