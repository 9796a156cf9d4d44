package understudy.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import it.unimi.dsi.fastutil.longs.LongLists;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import understudy.kvcache.PrefixCacheEvents;
import understudy.prompt.SessionTurn;

final class RequestLogTest {
    private static final int COUNT = 102_400;
    private static final long SECOND = 1_000_000_000;
    private static final List<Outcome> OUTCOMES = List.of(Outcome.values());

    private final SplittableRandom random = new SplittableRandom(1);

    @Test
    void requests_comeBackAsTheyWere() {
        var requests = IntStream.range(0, 5_000).mapToObj(this::anything).toList();

        var log = logOf(requests);

        assertThat(log.stream()).containsExactlyElementsOf(requests);
        assertThat(log.count(Outcome.FAILED)).isEqualTo((int) requests.stream()
                .filter(request -> request.outcome() == Outcome.FAILED)
                .count());
    }

    @Test
    void columns_areThoseOfTheAnsweredRequests() {
        var requests = IntStream.range(0, 5_000).mapToObj(this::anything).toList();

        var log = logOf(requests);

        var answered = requests.stream().filter(request -> request.outcome() == Outcome.COMPLETED);
        assertThat(log.completed(log.queuedNanos))
                .containsExactly(answered.mapToLong(RequestRecord::queuedNanos).toArray());
    }

    @Test
    void plainRequest_takes52Bytes() {
        var requests = IntStream.range(0, COUNT).mapToObj(this::plain).toList();

        // Five times of 8 bytes; id, prompt and answer of 4. All else is the same for all.
        assertThat(bytesPerRequest(requests)).isBetween(5 * 8 + 3 * 4.0, 54.0);
    }

    @Test
    void anyRequest_takes104Bytes() {
        var requests = IntStream.range(0, COUNT).mapToObj(this::anything).toList();

        // Six times, id and session of 8 bytes; replica, outcome, prompt, cached, answer, preemptions, priority, turn,
        // truncated and events of 4.
        assertThat(bytesPerRequest(requests)).isBetween(8 * 8 + 10 * 4.0, 106.0);
    }

    /** Counts all that adding allocates, as would be thrown away by arrays that grow. */
    private static double bytesPerRequest(List<RequestRecord> requests) {
        var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        var log = new RequestLog(false);
        long before = threads.getCurrentThreadAllocatedBytes();
        requests.forEach(log::add);
        return (double) (threads.getCurrentThreadAllocatedBytes() - before) / requests.size();
    }

    private static RequestLog logOf(List<RequestRecord> requests) {
        var log = new RequestLog(false);
        requests.forEach(log::add);
        return log;
    }

    /** Ten requests per second, one replica, no conversations, nothing cached. */
    private RequestRecord plain(int id) {
        long arrival = id * SECOND / 10;
        return RequestRecordBuilder.builder()
                .requestId(id)
                .outcome(Outcome.COMPLETED)
                .arrivalNanos(arrival)
                .queuedNanos(arrival + 1)
                .scheduledNanos(arrival + 2)
                .firstTokenNanos(arrival + 3)
                .lastTokenNanos(arrival + SECOND)
                .endNanos(arrival + SECOND)
                .numPromptTokens(random.nextInt(1, 1_000))
                .numOutputTokens(random.nextInt(1, 1_000))
                .turn(SessionTurn.NONE)
                .events(PrefixCacheEvents.of())
                .tokenNanos(LongLists.EMPTY_LIST)
                .build();
    }

    private RequestRecord anything(int id) {
        return RequestRecordBuilder.builder()
                .requestId(id * (1L << 40))
                .replicaIndex(random.nextInt(100))
                .outcome(OUTCOMES.get(random.nextInt(OUTCOMES.size())))
                .arrivalNanos(random.nextLong(1L << 62))
                .queuedNanos(random.nextLong(1L << 62))
                .scheduledNanos(random.nextLong(1L << 62))
                .firstTokenNanos(random.nextLong(1L << 62))
                .lastTokenNanos(random.nextLong(1L << 62))
                .endNanos(random.nextLong(1L << 62))
                .numPromptTokens(random.nextInt(1, 100_000))
                .numCachedTokens(random.nextInt(1, 100_000))
                .numOutputTokens(random.nextInt(1, 1_000))
                .numPreemptions(random.nextInt(10))
                .priority(random.nextInt(-5, 5))
                .turn(new SessionTurn(random.nextLong(-1, 1L << 62), random.nextInt(10), random.nextInt(10)))
                .events(new PrefixCacheEvents(random.nextInt(PrefixCacheEvents.MASKS)))
                .tokenNanos(LongLists.EMPTY_LIST)
                .build();
    }
}
