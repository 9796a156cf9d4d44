package understudy.cluster.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import it.unimi.dsi.fastutil.longs.LongList;
import java.util.List;
import org.apache.pekko.actor.testkit.typed.javadsl.BehaviorTestKit;
import org.apache.pekko.actor.testkit.typed.javadsl.TestInbox;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import understudy.kvcache.tier.TierAudit;
import understudy.kvcache.tier.TierSpec;
import understudy.testkit.VirtualTimeTestKit;
import understudy.transfer.LinkSpec;
import understudy.transfer.PortGroup;
import understudy.transfer.TransferCost;

/** Books of a tier of 4 chunks: who uses which. */
final class KvTierTest {
    private static final KvTier.Job JOB = new KvTier.Job(0, 7);

    @AutoClose
    private final VirtualTimeTestKit kit = VirtualTimeTestKit.create();

    private final TestInbox<KvTier.StorePrepared> prepared = TestInbox.create();
    private final TestInbox<KvTier.Found> found = TestInbox.create();
    private final TestInbox<KvTier.Audited> audited = TestInbox.create();
    private final BehaviorTestKit<KvTier.Command> tier = BehaviorTestKit.create(KvTier.create(
            kit.clock(),
            new KvStoreSpec(
                    TierSpec.of(4), new LinkSpec(List.of(PortGroup.of(1, 1)), TransferCost.NONE, 0), 0, 1, true)));

    /** Chunks 1 and 2 are there, 3 is not: 2 are in use by both jobs, and by one after the other has ended. */
    @Test
    void chunksStayInUse_untilTheLastJobEnds() {
        store(new KvTier.Job(1, 0), 1, 2);
        tier.run(new KvTier.Find(JOB, LongList.of(1, 2, 3), found.getRef()));
        tier.run(new KvTier.Find(new KvTier.Job(1, 7), LongList.of(1), found.getRef()));
        assertThat(audit(0, 7)).isEqualTo(new TierAudit(4, 2, 0, 0, 2, 0, true));

        tier.run(new KvTier.EndLoad(JOB));
        assertThat(audit(1, 7)).isEqualTo(new TierAudit(4, 2, 1, 0, 1, 0, true));
        tier.run(new KvTier.EndLoad(new KvTier.Job(1, 7)));
        assertThat(audit(1)).isEqualTo(new TierAudit(4, 2, 2, 0, 0, 0, true));
    }

    @Test
    void endOfWhatHasFoundNothing_isNothing() {
        tier.run(new KvTier.Find(JOB, LongList.of(1), found.getRef()));
        tier.run(new KvTier.EndLoad(JOB));
        tier.run(new KvTier.EndStore(JOB, true));

        assertThat(audit(0)).isEqualTo(new TierAudit(4, 4, 0, 0, 0, 0, true));
    }

    /** Replica 1 is not asked for what replica 0 does. */
    @Test
    void auditOfAReplica_findsWhatItHasLeftInUse() {
        tier.run(new KvTier.PrepareStore(JOB, LongList.of(1, 2), prepared.getRef()));
        assertThat(audit(0, 7, 8).numPending()).isEqualTo(2);
        assertThat(audit(1).numPending()).isEqualTo(2);

        assertThatIllegalStateException()
                .isThrownBy(() -> audit(0, 8))
                .withMessageContaining("block conservation")
                .withMessageContaining("2 in use, left by [Job[replicaIndex=0, number=7]]");
    }

    /** Neither job has ended; each holds a chunk, but one of the two blocks is led to by no key. */
    @Test
    void auditOfATier_findsAChunkThatIsThereTwice() {
        tier.run(new KvTier.PrepareStore(JOB, LongList.of(1, 1), prepared.getRef()));

        assertThatIllegalStateException()
                .isThrownBy(() -> audit(0, 7))
                .withMessageContaining("block conservation: a store has");
    }

    private void store(KvTier.Job job, long... keys) {
        tier.run(new KvTier.PrepareStore(job, LongList.of(keys), prepared.getRef()));
        tier.run(new KvTier.EndStore(job, false));
    }

    private TierAudit audit(int replicaIndex, long... jobs) {
        tier.run(new KvTier.Audit(replicaIndex, LongList.of(jobs), audited.getRef()));
        return audited.receiveMessage().audit();
    }
}
