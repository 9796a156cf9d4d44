package understudy.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.TimerScheduler;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import understudy.Waiting;

/** Paced by the wall clock. Order and virtual times are asserted, wall times only from below: a machine may be slow. */
final class VirtualTimeInWallClockTest {
    private static final int TICKS = 20;

    private final List<Long> tickNanos = new CopyOnWriteArrayList<>();
    private final CountDownLatch done = new CountDownLatch(TICKS);

    @AutoClose
    private final VirtualTime<String> time = VirtualTime.create("paced", this::ticker);

    /** Ticks every virtual second after "start". */
    private Behavior<String> ticker(Clock clock) {
        return Behaviors.withTimers(timers -> Behaviors.receiveMessage(text -> tick(clock, timers, text)));
    }

    private Behavior<String> tick(Clock clock, TimerScheduler<String> timers, String text) {
        if (text.equals("tick")) {
            tickNanos.add(clock.nowNanos());
            done.countDown();
        }
        timers.startSingleTimer("tick", Duration.ofSeconds(1));
        return Behaviors.same();
    }

    @Test
    void pacedRun_keepsVirtualTimesAndNeverRunsAhead() throws InterruptedException {
        time.system().tell("start");
        time.advance(Duration.ZERO);
        var stopwatch = Stopwatch.start();

        time.run(200);
        assertThat(done.await(60, TimeUnit.SECONDS)).isTrue();

        // 20 virtual seconds at 200 times real time take at least 0.1 s.
        assertThat(stopwatch.seconds()).isGreaterThanOrEqualTo(0.1);
        for (int i = 0; i < TICKS; i++) {
            assertThat(tickNanos.get(i)).isEqualTo((i + 1) * 1_000_000_000L);
        }
        assertThat(time.lateness().count()).isGreaterThanOrEqualTo(TICKS);
    }

    @Test
    void pause_stopsTheClockAndRunGoesOnFromThere() throws InterruptedException {
        time.system().tell("start");
        time.run(1_000);
        assertThat(done.await(60, TimeUnit.SECONDS)).isTrue();

        time.pause();
        time.advance(Duration.ZERO);
        long pausedNanos = time.nowNanos();
        int ticks = tickNanos.size();
        time.advance(Duration.ofSeconds(3));

        assertThat(time.nowNanos()).isEqualTo(pausedNanos + 3_000_000_000L);
        assertThat(tickNanos).hasSize(ticks + 3);
    }

    @Test
    void pauseWithoutATimerDue_keepsTheTimeThatTheWallClockCalledFor() {
        time.run(1_000);
        long first = stampOfOutsideWork();
        Waiting.millis(50);
        time.pause();
        time.advance(Duration.ZERO);

        // 50 ms on the wall at 1000 times real time; nothing else has happened that could have moved the clock.
        assertThat(time.nowNanos() - first).isGreaterThanOrEqualTo(50_000_000_000L);
    }

    @Test
    void workFromOutside_isStampedWithTheTimeTheWallClockCallsFor() {
        time.run(1_000);
        long first = stampOfOutsideWork();
        Waiting.millis(50);

        // 50 ms on the wall at 1000 times real time are 50 virtual seconds, although no timer has moved the clock.
        assertThat(stampOfOutsideWork() - first).isGreaterThanOrEqualTo(50_000_000_000L);
    }

    private long stampOfOutsideWork() {
        var stamp = new CompletableFuture<Long>();
        time.post(() -> stamp.complete(time.nowNanos()));
        return stamp.join();
    }
}
