package understudy.kvcache.radix;

import static org.assertj.core.api.Assertions.assertThat;

import it.unimi.dsi.fastutil.longs.LongList;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import understudy.kvcache.radix.HostLink.Way;
import understudy.transfer.PortGroup;

/** A token of 1 byte takes 4 ns one way, and while there are copies both ways, 5 ns in each. */
final class HostLinkTest {
    static final RadixConfig.HostLinkSpec LINK =
            new RadixConfig.HostLinkSpec(new PortGroup(LongList.of(250_000_000, 250_000_000), 400_000_000), 1);

    private final HostLink link = new HostLink(LINK);

    @BeforeEach
    void itIsLate() {
        link.advance(100);
    }

    /** 10 tokens until 140 ns, then 5 more until 160 ns. */
    @Test
    void copiesOfADirection_goOneAfterTheOther() {
        long first = link.begin(Way.WRITE, 10);
        long second = link.begin(Way.WRITE, 5);

        link.advance(139);
        assertThat(link.isDone(Way.WRITE, first)).isFalse();
        link.advance(140);
        assertThat(link.isDone(Way.WRITE, first)).isTrue();
        link.advance(159);
        assertThat(link.isDone(Way.WRITE, second)).isFalse();
        link.advance(160);
        assertThat(link.isDone(Way.WRITE, second)).isTrue();
    }

    /** Until 150 ns both have 10 tokens through; the other 10 of the load take 40 ns then. */
    @Test
    void directions_shareWhatTheLinkCarries() {
        long write = link.begin(Way.WRITE, 10);
        long load = link.begin(Way.LOAD, 20);
        assertThat(link.nanosUntilDone(Way.LOAD)).isEqualTo(90);
        assertThat(link.nanosUntilDone(Way.WRITE)).isEqualTo(50);

        link.advance(149);
        assertThat(link.isDone(Way.WRITE, write)).isFalse();
        link.advance(150);
        assertThat(link.isDone(Way.WRITE, write)).isTrue();
        assertThat(link.nanosUntilDone(Way.LOAD)).isEqualTo(40);
        link.advance(189);
        assertThat(link.isDone(Way.LOAD, load)).isFalse();
        link.advance(190);
        assertThat(link.isDone(Way.LOAD, load)).isTrue();
    }

    /** The write of 10 tokens beside a load takes 50 ns; a time before its end comes too late. */
    @Test
    void wait_letsTimePass() {
        link.begin(Way.LOAD, 100);
        long write = link.begin(Way.WRITE, 10);

        assertThat(link.await(Way.WRITE)).isEqualTo(50);
        assertThat(link.isDone(Way.WRITE, write)).isTrue();
        link.advance(120);
        long next = link.begin(Way.WRITE, 1);
        link.advance(154);
        assertThat(link.isDone(Way.WRITE, next)).isFalse();
        link.advance(155);
        assertThat(link.isDone(Way.WRITE, next)).isTrue();
    }
}
