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
        return new RequestRecord(
                id,
                0,
                Outcome.COMPLETED,
                arrival,
                arrival + 1,
                arrival + 2,
                arrival + 3,
                arrival + SECOND,
                arrival + SECOND,
                random.nextInt(1, 1_000),
                0,
                random.nextInt(1, 1_000),
                0,
                0,
                SessionTurn.NONE,
                PrefixCacheEvents.of(),
                LongLists.EMPTY_LIST);
    }

    private RequestRecord anything(int id) {
        return new RequestRecord(
                id * (1L << 40),
                random.nextInt(100),
                OUTCOMES.get(random.nextInt(OUTCOMES.size())),
                random.nextLong(1L << 62),
                random.nextLong(1L << 62),
                random.nextLong(1L << 62),
                random.nextLong(1L << 62),
                random.nextLong(1L << 62),
                random.nextLong(1L << 62),
                random.nextInt(1, 100_000),
                random.nextInt(1, 100_000),
                random.nextInt(1, 1_000),
                random.nextInt(10),
                random.nextInt(-5, 5),
                new SessionTurn(random.nextLong(-1, 1L << 62), random.nextInt(10), random.nextInt(10)),
                new PrefixCacheEvents(random.nextInt(PrefixCacheEvents.MASKS)),
                LongLists.EMPTY_LIST);
    }
}
