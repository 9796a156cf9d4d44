package understudy.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Leases of 30 ns, which heartbeats renew to at least 20 ns from then on. */
final class KvLeasesTest {
    private final KvLeases leases = new KvLeases(new KvLease(30, true));

    @Test
    void lease_endsAfterItsDuration() {
        leases.begin(7, 100);
        leases.begin(8, 110);

        assertThat(leases.nextNanos()).isEqualTo(130);
        assertThat(leases.expired(129).toLongArray()).isEmpty();
        assertThat(leases.expired(130).toLongArray()).containsExactly(7);
        assertThat(leases.nextNanos()).isEqualTo(140);
    }

    @Test
    void heartbeat_makesALeaseLongerAndNeverShorter() {
        leases.begin(7, 100);

        leases.renew(7, 105); // 125 would be earlier
        assertThat(leases.nextNanos()).isEqualTo(130);
        leases.renew(7, 129);
        assertThat(leases.nextNanos()).isEqualTo(149);
        leases.renew(8, 129);
        assertThat(leases.expired(200).toLongArray()).as("8 has none").containsExactly(7);
    }

    @Test
    void readBlocks_haveNoLease() {
        leases.begin(7, 100);
        leases.end(7);

        assertThat(leases.nextNanos()).isEqualTo(Long.MAX_VALUE);
    }
}
