package understudy.cluster.replica;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static understudy.cluster.ListWorkload.request;

import it.unimi.dsi.fastutil.longs.LongLists;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.pekko.actor.testkit.typed.javadsl.TestInbox;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import understudy.cluster.ClusterEvent;
import understudy.cluster.ClusterFixture;
import understudy.cluster.KvBlockManager;
import understudy.cluster.MetricsCollector;
import understudy.cluster.Replica;
import understudy.cluster.ReplicaPeers;
import understudy.cluster.ReplicaSpec;
import understudy.cluster.RequestEvent;
import understudy.cluster.Router;
import understudy.engine.FinishReason;
import understudy.engine.vllm.VllmSpec;
import understudy.faults.CrashRetries;
import understudy.faults.FleetChange;
import understudy.faults.ReplicaOrder;
import understudy.faults.RequestFault;
import understudy.faults.SleepMode;
import understudy.kvcache.KvBlocks;
import understudy.kvcache.connector.ConnectorSpec;
import understudy.kvcache.content.ContentConfig;
import understudy.kvcache.tier.OffloadingSpec;
import understudy.kvcache.tier.TierSpec;
import understudy.latency.ApiDelay;
import understudy.report.Outcome;
import understudy.report.RequestRecord;
import understudy.testkit.VirtualTimeTestKit;

/** What one replica says to the others; a step takes 5 ms. */
final class ReplicaTest {
    private static final long MILLI = 1_000_000;

    /** Queued and admitted at once; the first step ends after 5 ms. */
    private static final RequestEvent.Timing TIMING = new RequestEvent.Timing(0, 0, 0, 5 * MILLI);

    @AutoClose
    private final VirtualTimeTestKit kit = VirtualTimeTestKit.create();

    private final ClusterFixture cluster = new ClusterFixture();
    private final VirtualTimeTestKit.Inbox<Router.Command> router = kit.createInbox(Router.Command.class);
    private final VirtualTimeTestKit.Inbox<MetricsCollector.Command> metrics =
            kit.createInbox(MetricsCollector.Command.class);
    private final VirtualTimeTestKit.Inbox<RequestEvent> client = kit.createInbox(RequestEvent.class);
    private ConnectorSpec connector;

    @Test
    void streamingSender_hearsOfEveryToken() {
        var replica = spawn(false);
        replica.tell(new Replica.AddRequest(request(7, 0, 20, 3), client.ref(), true));

        kit.advance(Duration.ofMillis(20));

        assertThat(client.messages())
                .containsExactly(
                        new RequestEvent.Token(7, 1, 5 * MILLI),
                        new RequestEvent.Token(7, 2, 10 * MILLI),
                        new RequestEvent.Token(7, 3, 15 * MILLI),
                        new RequestEvent.Finished(7, FinishReason.LENGTH, 0, 3, 15 * MILLI, TIMING));
    }

    @Test
    void otherSenders_hearOfTheEndOnly() {
        var replica = spawn(false);
        replica.tell(new Replica.AddRequest(request(7, 0, 20, 3), client.ref(), false));

        kit.advance(Duration.ofMillis(20));

        assertThat(client.messages())
                .containsExactly(new RequestEvent.Finished(7, FinishReason.LENGTH, 0, 3, 15 * MILLI, TIMING));
    }

    @Test
    void apiDelay_isShorterByWhatWasDoneBefore() {
        cluster.apiDelay = new ApiDelay(4 * MILLI, 0);
        var replica = spawn(false);
        submitWithHeadStart(replica, 7, 3 * MILLI);
        submitWithHeadStart(replica, 8, 9 * MILLI);

        kit.advance(Duration.ofMillis(20));

        // 4 - 3 = 1 ms is left of the delay of the first; the second has none left, and is queued at once.
        assertThat(client.messages())
                .extracting(event -> ((RequestEvent.Finished) event).timing().queuedNanos())
                .containsExactly(0L, MILLI);
    }

    /** The three tokens come at 5, 10 and 15 ms; the other request would have had its first one at 10 ms. */
    @Test
    void sleepThatWaits_beginsWhenWhatRunsHasEnded() {
        var asleep = kit.createInbox(Replica.Done.class);
        var replica = spawn(false);
        replica.tell(new Replica.AddRequest(request(7, 0, 20, 3), client.ref(), false));
        kit.advance(Duration.ofMillis(2));
        replica.tell(order(new FleetChange.Sleep(0, 1, SleepMode.WAIT)));
        replica.tell(new Replica.Order(ReplicaOrder.AwaitAsleep.NOW, asleep.ref()));
        replica.tell(new Replica.AddRequest(request(8, 0, 20, 1), client.ref(), false));

        kit.advance(Duration.ofMillis(12));
        assertThat(asleep.messages()).as("at 14 ms").isEmpty();
        kit.advance(Duration.ofMillis(6));
        assertThat(asleep.messages()).as("at 20 ms").hasSize(1);
        replica.tell(order(new FleetChange.Wake(0)));
        kit.advance(Duration.ofMillis(20));

        assertThat(client.messages())
                .extracting(event -> ((RequestEvent.Finished) event).timing().firstTokenNanos())
                .containsExactly(5L * MILLI, 25L * MILLI);
    }

    @ParameterizedTest
    @MethodSource("endsOfSleep")
    void replicaThatWillNotSleep_saysSo(Replica.Command end) {
        var asleep = kit.createInbox(Replica.Done.class);
        var replica = spawn(false);
        replica.tell(new Replica.AddRequest(request(7, 0, 20, 100), client.ref(), false));
        kit.advance(Duration.ofMillis(2));
        replica.tell(order(new FleetChange.Sleep(0, 1, SleepMode.WAIT)));
        replica.tell(new Replica.Order(ReplicaOrder.AwaitAsleep.NOW, asleep.ref()));

        replica.tell(end);
        kit.advance(Duration.ofMillis(1));

        assertThat(asleep.messages()).hasSize(1);
    }

    static List<Replica.Command> endsOfSleep() {
        return List.of(order(new FleetChange.Wake(0)), Replica.Leave.NOW, new Replica.Crash(CrashRetries.NONE));
    }

    private static Replica.Order order(ReplicaOrder order) {
        return new Replica.Order(order, TestInbox.<Replica.Done>create().getRef());
    }

    private void submitWithHeadStart(ActorRef<Replica.Command> replica, long id, long headStartNanos) {
        replica.tell(new Replica.AddRequest(
                request(id, 0, 20, 1), client.ref(), false, false, 0, RequestFault.NONE, headStartNanos, null));
    }

    @Test
    void abort_endsTheRequestAndFreesItsBlocks() {
        var stats = kit.createInbox(ClusterEvent.class);
        var replica = spawn(false, stats.ref(), ClusterEvent.Detail.KV_CACHES);
        replica.tell(new Replica.AddRequest(request(7, 0, 20, 100), client.ref(), true));
        kit.advance(Duration.ofMillis(12));

        replica.tell(new Replica.Abort(7));
        kit.advance(Duration.ofMillis(20));

        // Tokens at 5 ms and 10 ms; the third, due at 15 ms, is computed but never delivered.
        assertThat(client.messages())
                .containsExactly(
                        new RequestEvent.Token(7, 1, 5 * MILLI),
                        new RequestEvent.Token(7, 2, 10 * MILLI),
                        new RequestEvent.Finished(7, FinishReason.ABORT, 0, 2, 10 * MILLI, TIMING));
        assertThat(metrics.messages())
                .anySatisfy(message -> assertThat(event(message))
                        .isInstanceOfSatisfying(
                                ClusterEvent.RequestEnded.class,
                                ended -> assertThat(ended.ended().outcome()).isEqualTo(Outcome.ABORTED)));
        assertThat(usages(stats)).last().isEqualTo(0.0);
        assertThat(usages(stats)).first().isNotEqualTo(0.0);
    }

    @Test
    void abort_freesBlocksWithTheStepInFlight_ifTheConnectorSaysSo() {
        connector = new OffloadingSpec(TierSpec.of(10), 1, true, true, false, 0);
        var stats = kit.createInbox(ClusterEvent.class);
        var replica = spawn(false, stats.ref(), ClusterEvent.Detail.KV_CACHES);
        replica.tell(new Replica.AddRequest(request(7, 0, 20, 100), client.ref(), false));
        kit.advance(Duration.ofMillis(12));
        replica.tell(new Replica.Abort(7));
        kit.advance(Duration.ofMillis(2));
        assertThat(usages(stats)).last().isNotEqualTo(0.0);

        kit.advance(Duration.ofMillis(2));

        // The step from 10 ms to 15 ms still writes to the two blocks; its result means nothing else to the memory.
        assertThat(usages(stats)).last().isEqualTo(0.0);
    }

    @Test
    void abort_reachesARequestThatIsStillOnItsWayToTheQueue() {
        cluster.apiDelay = new ApiDelay(4 * MILLI, 0);
        var replica = spawn(false);
        replica.tell(new Replica.AddRequest(request(7, 0, 20, 100), client.ref(), true));
        replica.tell(new Replica.Abort(7));
        replica.tell(new Replica.Abort(8));

        kit.advance(Duration.ofMillis(50));

        assertThat(client.messages()).singleElement().isInstanceOfSatisfying(RequestEvent.Finished.class, finished -> {
            assertThat(finished.reason()).isEqualTo(FinishReason.ABORT);
            assertThat(finished.numOutputTokens()).isZero();
        });
    }

    @Test
    void resetPrefixCache_isRefusedWhileBlocksAreInUse() {
        var answers = kit.createInbox(Replica.Done.class);
        var replica = spawn(false);
        replica.tell(new Replica.AddRequest(request(7, 0, 20, 3), client.ref(), false));
        kit.advance(Duration.ofMillis(2));

        replica.tell(new Replica.Order(new ReplicaOrder.ResetPrefixCache(false), answers.ref()));
        kit.advance(Duration.ofMillis(20));
        replica.tell(new Replica.Order(new ReplicaOrder.ResetPrefixCache(false), answers.ref()));
        kit.settle();

        assertThat(answers.messages()).containsExactly(new Replica.Done(0, false), new Replica.Done(0, true));
    }

    private static List<Double> usages(VirtualTimeTestKit.Inbox<ClusterEvent> events) {
        return events.messages().stream().flatMap(ReplicaTest::usage).toList();
    }

    private static Stream<Double> usage(ClusterEvent event) {
        return event instanceof ClusterEvent.KvCacheChanged changed
                ? Stream.of(changed.kvCache().usage())
                : Stream.of();
    }

    private static ClusterEvent event(MetricsCollector.Command happened) {
        return ((MetricsCollector.Happened) happened).event();
    }

    @Test
    void metrics_getOneMessagePerStep() {
        var replica = spawn(false);
        replica.tell(new Replica.AddRequest(request(7, 0, 20, 3), client.ref(), false));
        replica.tell(new Replica.AddRequest(request(8, 0, 20, 3), client.ref(), false));

        kit.advance(Duration.ofMillis(20));

        // Two prompts of 20 tokens, then two steps of one token each; the gaps of both requests are one run of two.
        assertThat(metrics.messages()).hasSize(3);
        var first = (ClusterEvent.StepEnded) event(metrics.messages().get(0));
        assertThat(first.numTokens()).isEqualTo(40);
        assertThat(first.numSampled()).isEqualTo(2);
        assertThat(first.gapNanos().toLongArray()).isEmpty();
        var last = (ClusterEvent.StepEnded) event(metrics.messages().get(2));
        assertThat(last.gapNanos().toLongArray()).containsExactly(5 * MILLI);
        assertThat(last.gapCounts().toIntArray()).containsExactly(2);
        assertThat(last.ended()).extracting(RequestRecord::requestId).containsExactly(7L, 8L);
    }

    /** Changes of the prefix table come with the state of the memory. */
    @ParameterizedTest
    @CsvSource({"KV_CACHES, true", "KV_EVENTS, true", "CHOICES, false"})
    void subscriber_isToldStates_ifItReadsThemOrChangesOfPrefixTables(ClusterEvent.Detail detail, boolean isTold) {
        var events = kit.createInbox(ClusterEvent.class);
        var replica = spawn(false, events.ref(), detail);
        replica.tell(new Replica.AddRequest(request(7, 0, 20, 3), client.ref(), false));

        kit.advance(Duration.ofMillis(5));

        assertThat(!usages(events).isEmpty()).isEqualTo(isTold);
    }

    /** A prompt of 20 tokens takes two blocks of 999; its step ends after 5 ms. */
    @Test
    void subscriber_isToldOfTheStep_andThenByTheMemoryOfItself() {
        var events = kit.createInbox(ClusterEvent.class);
        var replica = spawn(false, events.ref(), ClusterEvent.Detail.KV_CACHES);
        replica.tell(new Replica.AddRequest(request(7, 0, 20, 3), client.ref(), false));

        kit.advance(Duration.ofMillis(5));

        var ended = events.messages().stream()
                .dropWhile(event -> !(event instanceof ClusterEvent.StepEnded))
                .toList();
        assertThat(ended.get(0)).isInstanceOfSatisfying(ClusterEvent.StepEnded.class, step -> {
            assertThat(step.endNanos()).isEqualTo(5 * MILLI);
            assertThat(step.firstTokens().requestIds().toLongArray()).containsExactly(7);
            assertThat(step.load().numRunning()).isEqualTo(1);
        });
        assertThat(ended)
                .filteredOn(ClusterEvent.KvCacheChanged.class::isInstance)
                .first()
                .satisfies(event -> {
                    var memory = ((ClusterEvent.KvCacheChanged) event).kvCache();
                    assertThat(memory.atNanos()).isEqualTo(5 * MILLI);
                    assertThat(memory.usage()).isCloseTo(2.0 / 999, within(1e-12));
                });
        assertThat(event(metrics.messages().get(0))).isSameAs(ended.get(0));
    }

    @Test
    void router_isToldOfRequestsThatEnded_andOfNothingElse() {
        var replica = spawn(false);
        replica.tell(new Replica.AddRequest(request(7, 0, 20, 4), client.ref(), false));

        kit.advance(Duration.ofMillis(40));

        assertThat(router.messages())
                .containsExactly(new Router.ReplicaProgress(0, 1, LongLists.EMPTY_LIST, LongLists.EMPTY_LIST, 0, 0));
    }

    @Test
    void kvEvents_arePublishedOncePerStep() {
        var replica = spawn(true);
        replica.tell(new Replica.AddRequest(request(7, 0, 40, 2), client.ref(), false));

        kit.advance(Duration.ofMillis(40));

        // 40 tokens are two full blocks, stored with the first step; the second step completes none.
        var events = router.messages().stream()
                .filter(KvBlockManager.KvEvents.class::isInstance)
                .toList();
        assertThat(events).hasSize(1);
        assertThat(((KvBlockManager.KvEvents) events.get(0)).events()).hasSize(1);
    }

    @Test
    void rejection_isToldToSenderAndMetrics() {
        cluster.maxModelLen = 100;
        var replica = spawn(false);
        replica.tell(new Replica.AddRequest(request(7, 0, 90, 20), client.ref(), false));

        kit.settle();

        assertThat(client.messages()).singleElement().isInstanceOfSatisfying(RequestEvent.Rejected.class, rejected -> {
            assertThat(rejected.requestId()).isEqualTo(7);
            assertThat(rejected.reason()).contains("maximum context length is 100 tokens");
        });
        assertThat(metrics.messages())
                .singleElement()
                .extracting(ReplicaTest::event)
                .isInstanceOfSatisfying(
                        ClusterEvent.RequestEnded.class,
                        ended -> assertThat(ended.ended().outcome()).isEqualTo(Outcome.REJECTED));
    }

    private ActorRef<Replica.Command> spawn(boolean publishesKvEvents) {
        return spawn(publishesKvEvents, null);
    }

    private ActorRef<Replica.Command> spawn(
            boolean publishesKvEvents, ActorRef<ClusterEvent> events, ClusterEvent.Detail... details) {
        var peers = ReplicaPeers.of(router.ref(), metrics.ref(), ClusterFixture.router(publishesKvEvents))
                .withSubscriber(events == null ? null : new ClusterEvent.Subscriber(events, Set.of(details)));
        var spec = cluster.replicaSpec();
        var recording = ReplicaSpec.of(
                        new VllmSpec(
                                ((VllmSpec) spec.engine()).scheduler(),
                                spec.limits(),
                                ContentConfig.vllm(KvBlocks.of(cluster.hasher, 1_000)
                                                .withMaxModelLen(cluster.maxModelLen))
                                        .withConnector(connector)),
                        spec.memory(),
                        spec.device())
                .withApiDelay(cluster.apiDelay);
        return kit.spawn(RunningReplica.create(kit.clock(), 0, recording, peers), "replica");
    }
}
