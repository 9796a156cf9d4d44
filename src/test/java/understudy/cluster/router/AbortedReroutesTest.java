package understudy.cluster.router;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class AbortedReroutesTest {
    @Test
    void abortAfterACrash_isForgottenWhenTheReplicaIsGone() {
        var abortedReroutes = new AbortedReroutes();
        abortedReroutes.begin(0);
        abortedReroutes.begin(1);
        abortedReroutes.onAbort(7);
        abortedReroutes.end(0);
        assertThat(abortedReroutes.isAborted(7)).isTrue();

        abortedReroutes.end(1);
        abortedReroutes.onAbort(8);

        assertThat(abortedReroutes.isAborted(7)).isFalse();
        assertThat(abortedReroutes.isAborted(8)).as("nobody hands over").isFalse();
    }
}
