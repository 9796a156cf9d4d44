package understudy.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.cluster.RequestEvent;
import understudy.engine.FinishReason;
import understudy.engine.SamplingParams;
import understudy.faults.Fault;
import understudy.faults.FleetChange;
import understudy.faults.ReplicaState;
import understudy.faults.RequestFault;
import understudy.prompt.Prompt;
import understudy.prompt.SegmentedTokens;

/** A step takes 10 ms, and a request 4 ms to the queue. */
final class EmulatedClusterTest {
    private static final long MILLI = 1_000_000;
    private static final String STEPS_OF_10_MS = """
            engine.async-scheduling = false
            latency.model = linear
            latency.linear { per-step = 10ms, per-token = 0ns, per-decode-seq = 0ns, per-kv-token = 0ns }
            """;

    @RegisterExtension
    final EmulatedClusterExtension emulation = EmulatedClusterExtension.paused(STEPS_OF_10_MS + "cluster.replicas = 2");

    @Test
    void request_hearsOfEveryTokenInVirtualTime(EmulatedCluster cluster) {
        var request = cluster.submit(100, 3);

        cluster.advance(Duration.ofMillis(24));
        assertThat(request.isEnded()).isFalse();
        assertThat(request.tokenNanos()).containsExactly(14 * MILLI, 24 * MILLI);
        cluster.advance(Duration.ofMillis(10));

        assertThat(request.finished().reason()).isEqualTo(FinishReason.LENGTH);
        assertThat(request.finished().atNanos()).isEqualTo(34 * MILLI);
        assertThat(cluster.nowNanos()).isEqualTo(34 * MILLI);
        cluster.check().hasCompleted(1).hasServed(0, 1).hasServed(1, 0).hasMeanTtftOfAtMost(Duration.ofMillis(14));
    }

    @Test
    void check_saysWhatItFound(EmulatedCluster cluster) {
        var request = cluster.submit(100, 3);
        cluster.advance(Duration.ofMillis(5));

        var check = cluster.check().hasUnfinished(1).hasCompleted(0);

        assertThatThrownBy(() -> check.hasCompleted(1))
                .isInstanceOf(AssertionError.class)
                .hasMessage("completed requests: expected 1, but it is 0");
        assertThatThrownBy(() -> check.hasMeanItlOfAtMost(Duration.ofHours(1))).isInstanceOf(AssertionError.class);
        assertThatThrownBy(request::finished)
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("expected Finished, but heard [Admitted[");
    }

    @Test
    void sharedPrompt_isCachedOnItsReplica(EmulatedCluster cluster) {
        var prompt = new Prompt(SegmentedTokens.EMPTY.append(1, 160));
        for (int i = 0; i < 3; i++) {
            cluster.submit(prompt, 1);
            cluster.advance(Duration.ofMillis(20));
        }

        // Round robin: the third request is on the first one's replica, and hits 9 of its 10 blocks; the last token
        // counts anew.
        cluster.check().hasPrefixCacheHits(144);
        assertThat(cluster.blockHashes(0)).hasSize(11).contains(cluster.blockHashes(1));
    }

    @Test
    void faults_happenAndAreRefusedWhenTheyCannot(EmulatedCluster cluster) {
        var first = cluster.submit(100, 10);
        cluster.advance(Duration.ofMillis(30));

        cluster.inject(new Fault.Crash(0));

        assertThat(first.failed().cause()).isEqualTo(RequestEvent.FailureCause.CRASH);
        assertThatThrownBy(() -> cluster.inject(new Fault.Crash(0)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("Crash: replica 0 is DOWN");
        cluster.check().hasFailed(1).hasState(0, ReplicaState.DOWN).hasState(1, ReplicaState.READY);
        cluster.inject(new FleetChange.Restart(0));
        cluster.advance(Duration.ZERO);
        cluster.check().hasState(0, ReplicaState.READY);
    }

    @Test
    void faultOfOneRequest_leavesTheOthersAlone(EmulatedCluster cluster) {
        var prompt = new Prompt(SegmentedTokens.EMPTY.append(1, 20));
        var cut = cluster.submit(prompt, SamplingParams.ofMaxTokens(5), new RequestFault(false, 2, 0));
        var error = cluster.submit(prompt, SamplingParams.ofMaxTokens(5), new RequestFault(true, 0, 0));
        var late = cluster.submit(prompt, SamplingParams.ofMaxTokens(5), new RequestFault(false, 0, 20 * MILLI));
        var untouched = cluster.submit(prompt, 5);
        cluster.advance(Duration.ofSeconds(1));

        assertThat(cut.failed().cause()).isEqualTo(RequestEvent.FailureCause.CUT);
        assertThat(cut.tokenNanos()).hasSize(2);
        assertThat(error.failed().cause()).isEqualTo(RequestEvent.FailureCause.INJECTED_ERROR);
        assertThat(late.finished().atNanos() - untouched.finished().atNanos()).isEqualTo(20 * MILLI);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void abortedRequest_givesItsBlocksBackWhileItsStepIsInFlight(boolean isAsync) {
        try (var cluster = EmulatedCluster.startPaused(
                STEPS_OF_10_MS + "latency.api-delay = 0ms, engine.async-scheduling = " + isAsync)) {
            var aborted = cluster.submit(100, 10);
            cluster.advance(Duration.ofMillis(15));

            cluster.abort(aborted);
            // It takes the place of the first one, in the tables of the replica too, before that one's step has ended.
            var successor = cluster.submit(100, 3);
            cluster.advance(Duration.ofMillis(1));
            assertThat(cluster.resetPrefixCache())
                    .as("the first one's blocks are free, the second one waits for the step to end")
                    .isTrue();
            cluster.advance(Duration.ofMillis(10));
            assertThat(cluster.resetPrefixCache())
                    .as("the second one has its blocks")
                    .isFalse();
            cluster.advance(Duration.ofSeconds(1));

            assertThat(aborted.finished().reason()).isEqualTo(FinishReason.ABORT);
            assertThat(aborted.finished().numOutputTokens()).isEqualTo(1);
            assertThat(successor.finished().numOutputTokens()).isEqualTo(3);
            cluster.check().hasAborted(1).hasCompleted(1).hasUnfinished(0);
            assertThat(cluster.resetPrefixCache()).as("no block is in use").isTrue();
            assertThat(cluster.blockHashes(0)).isEmpty();
        }
    }

    @Test
    void abortOnTheWayOrAfterTheEnd(EmulatedCluster cluster) {
        var onItsWay = cluster.submit(100, 3);
        cluster.advance(Duration.ofMillis(1));
        cluster.abort(onItsWay);
        var completed = cluster.submit(100, 1);
        cluster.advance(Duration.ofSeconds(1));
        cluster.abort(completed);

        assertThat(onItsWay.finished().reason()).isEqualTo(FinishReason.ABORT);
        assertThat(onItsWay.finished().atNanos()).isEqualTo(MILLI);
        assertThat(completed.finished().reason()).isEqualTo(FinishReason.LENGTH);
        cluster.check().hasAborted(1).hasCompleted(1).hasUnfinished(0);
    }

    @Test
    void resetOfThePrefixCache_doesNotWaitForAReplicaThatIsDown(EmulatedCluster cluster) {
        cluster.submit(100, 1);
        cluster.advance(Duration.ofMillis(50));
        cluster.inject(new Fault.Crash(1));

        assertThat(cluster.resetPrefixCache()).isTrue();
        assertThat(cluster.blockHashes(0)).isEmpty();
    }

    @Test
    void runningClock_answersByItself() throws Exception {
        try (var cluster = EmulatedCluster.start(STEPS_OF_10_MS)) {
            var end = cluster.submit(100, 500).await(Duration.ofMinutes(1));

            // 500 steps of 10 ms, as fast as possible.
            assertThat(end).isInstanceOf(RequestEvent.Finished.class);
            assertThat(cluster.nowNanos()).isGreaterThanOrEqualTo(5_000 * MILLI);
        }
    }

    @Test
    void pacedClock_keepsVirtualDistances() throws Exception {
        try (var cluster = EmulatedCluster.start(STEPS_OF_10_MS + "clock.speed = 20")) {
            var request = cluster.submit(100, 20);
            request.await(Duration.ofMinutes(1));

            var times = request.tokenNanos();
            assertThat(times.get(19) - times.get(0)).isEqualTo(19 * 10 * MILLI);
        }
    }

    @Test
    void badSettings_areNamed() {
        assertThatThrownBy(() -> EmulatedCluster.start("cluster.replica = 2"))
                .hasMessageContaining("unknown key cluster.replica; did you mean cluster.replicas?");
    }

    @Test
    void defectOfTheEmulation_isThrown() {
        var settings = STEPS_OF_10_MS
                + "kv-cache.kv-events { enable-kv-cache-events = true, endpoint = \"tcp://256.0.0.1:*\" }";

        assertThatThrownBy(() -> EmulatedCluster.start(settings))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("KV events of replica 0: cannot use tcp://256.0.0.1:*");
    }
}
