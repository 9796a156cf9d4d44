package understudy.sweep;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import understudy.scenario.ScenarioFile;
import understudy.settings.Section;

class PointThreadsTest {
    private static final Section SMALL = settings("2");
    private static final Section LONG = settings("1000000000");

    private final PointThreads threads = new PointThreads(1, false);

    @AfterEach
    void close() {
        threads.close();
    }

    @Test
    void point_hasTheFiguresOfItsRun() throws Exception {
        var result = threads.submit("small", () -> SMALL).get(60, SECONDS);

        assertThat(result.name()).isEqualTo("small");
        assertThat(result.figures().path("completed").asInt()).isEqualTo(2);
    }

    @Test
    void closedBeforeTheActorsAreUp_interruptsNothing_andGivesThePointUp() {
        var wasInterrupted = new CompletableFuture<Boolean>();

        var result = threads.submit("closed", () -> {
            threads.close();
            wasInterrupted.complete(Thread.currentThread().isInterrupted());
            return SMALL;
        });

        assertThatThrownBy(() -> result.get(60, SECONDS)).isInstanceOf(CancellationException.class);
        assertThat(wasInterrupted).isCompletedWithValue(false);
    }

    /** A thousand million requests are more than any machine ends within the minute. */
    @Test
    void closedDuringTheRun_givesItUp_andWhatWaitsToo() throws Exception {
        var began = new CountDownLatch(1);
        var running = threads.submit("long", () -> {
            began.countDown();
            return LONG;
        });
        var waiting = threads.submit("waiting", () -> SMALL);
        assertThat(began.await(60, SECONDS)).isTrue();

        threads.close();

        assertThatThrownBy(() -> running.get(60, SECONDS)).isInstanceOf(CancellationException.class);
        assertThatThrownBy(() -> waiting.get(60, SECONDS)).isInstanceOf(CancellationException.class);
        assertThat(threads.submit("late", () -> SMALL)).isCancelled();
    }

    private static Section settings(String numRequests) {
        return new ScenarioFile(Map.of()).load(null, Map.of("workload.requests", numRequests));
    }
}
