package understudy.kvcache.tier;

import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import it.unimi.dsi.fastutil.longs.LongList;
import org.junit.jupiter.api.Test;

final class HostMemoryTest {
    private final HostMemory host = new HostMemory(TierSpec.of(4), 16, true);

    @Test
    void soundMemory_passesItsAudit() {
        host.beginStore(LongList.of(1, 2));
        host.endStore(LongList.of(1, 2), false);
        host.beginLoad(LongList.of(1));

        host.audit();
    }

    /** A caller that breaks its promise of different keys leaves a block to which no key leads. */
    @Test
    void chunkThatIsThereTwice_failsTheAudit() {
        host.beginStore(LongList.of(1, 1));

        assertThatIllegalStateException()
                .isThrownBy(host::audit)
                .withMessageContaining("block conservation: the host memory has");
    }
}
