package understudy.api.kvevents;

import static org.assertj.core.api.Assertions.assertThat;

import it.unimi.dsi.fastutil.longs.LongList;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;
import understudy.faults.Fault;
import understudy.faults.FleetChange;
import understudy.kvcache.KvEvent;
import understudy.prompt.Prompt;
import understudy.prompt.SegmentedTokens;
import understudy.testkit.EmulatedCluster;

/** What a subscriber makes of the events over real sockets. */
final class KvEventsOverZmqTest {
    private static final String SMALL_CACHES = """
            cluster.replicas = 2
            kv-cache.num-gpu-blocks = 60
            kv-cache.kv-events {
              enable-kv-cache-events = true
              endpoint = "tcp://127.0.0.1:*"
              replay-endpoint = "tcp://127.0.0.1:*"
              topic = "kv@replica-{replica}@m"
            }
            """;

    @ParameterizedTest
    @ValueSource(strings = {"map", "array"})
    void subscriber_rebuildsTheTableOfEachReplica(String format) {
        try (var cluster = EmulatedCluster.startPaused(SMALL_CACHES + "kv-cache.kv-events.format = " + format);
                var first = new KvEventSubscriber(cluster.kvEvents().orElseThrow(), 0);
                var second = new KvEventSubscriber(cluster.kvEvents().orElseThrow(), 1)) {
            chat(cluster);

            first.catchUp();
            second.catchUp();

            assertThat(first.numRemoved())
                    .as("caches that are too small for the chats")
                    .isPositive();
            assertThat(first.sortedHashes()).isEqualTo(sorted(cluster.blockHashes(0)));
            assertThat(second.sortedHashes()).isEqualTo(sorted(cluster.blockHashes(1)));
        }
    }

    @Test
    void lateSubscriber_catchesUpByReplay() {
        try (var cluster = EmulatedCluster.startPaused(SMALL_CACHES)) {
            chat(cluster);
            try (var late = new KvEventSubscriber(cluster.kvEvents().orElseThrow(), 1)) {
                late.catchUp();

                assertThat(late.sortedHashes()).isNotEmpty().isEqualTo(sorted(cluster.blockHashes(1)));
            }
        }
    }

    @Test
    void storedEvents_carryTheTokensOfTheirBlocks() {
        try (var cluster = EmulatedCluster.startPaused(SMALL_CACHES);
                var subscriber = new KvEventSubscriber(cluster.kvEvents().orElseThrow(), 0)) {
            var prompt = SegmentedTokens.EMPTY.append(3, 40);
            cluster.submit(new Prompt(prompt), 30);
            cluster.advance(Duration.ofSeconds(5));
            subscriber.catchUp();

            // 40 prompt tokens and 29 of 30 answer tokens are 4 full blocks of 16; the prompt's first 32 tokens come
            // first.
            var expected = new int[32];
            prompt.copy(0, 32, expected, 0);
            assertThat(subscriber.tokens()).hasSize(64);
            assertThat(subscriber.tokens().subList(0, 32))
                    .containsExactlyElementsOf(Arrays.stream(expected).boxed().toList());
        }
    }

    @Test
    void restartedReplica_countsFromZeroAgain() {
        try (var cluster = EmulatedCluster.startPaused(SMALL_CACHES)) {
            chat(cluster);
            var publisher = cluster.kvEvents().orElseThrow();
            assertThat(publisher.numBatches(0)).isPositive();

            cluster.inject(new Fault.Crash(0));
            cluster.inject(new FleetChange.Restart(0));
            cluster.advance(Duration.ZERO);

            assertThat(publisher.numBatches(0)).isZero();
            chat(cluster);
            try (var subscriber = new KvEventSubscriber(publisher, 0)) {
                subscriber.catchUp();
                assertThat(subscriber.sortedHashes()).isNotEmpty().isEqualTo(sorted(cluster.blockHashes(0)));
            }
        }
    }

    @Test
    void replay_beginsWhereItIsAskedToAndEndsWithTheMark() {
        var settings = new KvEventSettings(
                "tcp://127.0.0.1:*", "tcp://127.0.0.1:*", 3, 100, 100, "t", KvEventSettings.Format.MAP);
        try (var publisher = new KvEventPublisher(settings, 1, 0)) {
            for (int i = 0; i < 5; i++) {
                publisher.accept(batch(i));
            }

            // Batches 0 to 4, of which the last three are kept.
            assertThat(replay(publisher, 0)).containsExactly(2L, 3L, 4L, -1L);
            assertThat(replay(publisher, 4)).containsExactly(4L, -1L);
            assertThat(replay(publisher, 9)).containsExactly(-1L);
        }
    }

    @Test
    void liveBatches_comeInOrder() {
        var settings =
                new KvEventSettings("tcp://127.0.0.1:*", "", 10, 10_000, 10_000, "t", KvEventSettings.Format.MAP);
        try (var publisher = new KvEventPublisher(settings, 1, 0)) {
            try (var context = new ZContext()) {
                var sub = subscriber(context);
                sub.connect(publisher.endpoint(0));
                followLive(publisher, sub);
            }
        }
    }

    @Test
    void publisherThatConnects_findsItsSubscriber() {
        try (var context = new ZContext()) {
            var sub = subscriber(context);
            sub.bind("tcp://127.0.0.1:*");
            var settings =
                    new KvEventSettings(sub.getLastEndpoint(), "", 10, 10_000, 10_000, "t", KvEventSettings.Format.MAP);
            try (var publisher = new KvEventPublisher(settings, 1, 0)) {
                followLive(publisher, sub);
            }
        }
    }

    private static ZMQ.Socket subscriber(ZContext context) {
        var sub = context.createSocket(SocketType.SUB);
        sub.setHandshakeIvl(KvEventSockets.HANDSHAKE_MILLIS);
        sub.subscribe("t");
        sub.setReceiveTimeOut(10);
        return sub;
    }

    /** Publishes until a new subscriber hears something, then checks that it misses nothing. */
    private static void followLive(KvEventPublisher publisher, ZMQ.Socket sub) {
        // What is published before the subscription has got through is lost, as ZeroMQ has it.
        byte[] topic = null;
        for (int i = 0; i < 1000 && topic == null; i++) {
            publisher.accept(batch(0));
            topic = sub.recv();
        }
        assertThat(topic).isNotNull();
        sub.setReceiveTimeOut(10_000);
        long last = publisher.numBatches(0) - 1;
        long sequence = ByteBuffer.wrap(sub.recv()).getLong();
        assertThat(sub.recv()).isNotEmpty();
        while (sequence < last) {
            assertThat(sub.recvStr()).isEqualTo("t");
            assertThat(ByteBuffer.wrap(sub.recv()).getLong()).isEqualTo(++sequence);
            assertThat(sub.recv()).isNotEmpty();
        }
    }

    @Test
    void fullQueue_losesBatchesAndShowsTheGap() {
        var settings = new KvEventSettings("tcp://127.0.0.1:*", "", 10, 10, 1, "", KvEventSettings.Format.MAP);
        var publisher = new KvEventPublisher(settings, 1, 0);
        publisher.close();
        // Nobody empties the queue any more.
        publisher.accept(batch(0));
        publisher.accept(batch(1));

        assertThat(publisher.numDropped()).isEqualTo(1);
        assertThat(publisher.numBatches(0)).as("numbers given out").isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 3})
    void endpoints_countUpFromTheFirst(int replica) {
        assertThat(KvEventSettings.forReplica("tcp://*:5557", replica)).isEqualTo("tcp://*:" + (5557 + replica));
        assertThat(KvEventSettings.forReplica("inproc://kv", replica))
                .isEqualTo(replica == 0 ? "inproc://kv" : "inproc://kv_dp3");
    }

    private static KvEventBatch batch(int i) {
        return new KvEventBatch(0, i, 16, List.of(new KvEvent.Removed(LongList.of(i))));
    }

    private static List<Long> replay(KvEventPublisher publisher, long start) {
        var answer = ReplayClient.ask(publisher.replayEndpoint(0), start);
        assertThat(answer).allSatisfy(message -> {
            boolean isEnd = message.sequence < 0;
            assertThat(message.topic).isEqualTo(isEnd ? "" : "t");
            assertThat(message.payload.length == 0).isEqualTo(isEnd);
        });
        return answer.stream().map(message -> message.sequence).toList();
    }

    /** Ten chats of six turns, five on each replica, of which each grows to 250 tokens; too much for 59 blocks of 16. */
    private static void chat(EmulatedCluster cluster) {
        for (int turn = 0; turn < 6; turn++) {
            for (int chat = 0; chat < 10; chat++) {
                cluster.submit(new Prompt(SegmentedTokens.EMPTY.append(chat, 50 + 40 * turn)), 20);
            }
            cluster.advance(Duration.ofSeconds(20));
        }
    }

    private static long[] sorted(long[] hashes) {
        Arrays.sort(hashes);
        return hashes;
    }
}
