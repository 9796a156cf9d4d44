package understudy.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Adapter;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.TimerScheduler;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

final class VirtualTimeTest {
    private final List<String> events = new CopyOnWriteArrayList<>();
    private int numTimers;

    @AutoClose
    private final VirtualTime<String> time = VirtualTime.create("test", this::recorder);

    /** "after 5" sets a timer of 5 ns; everything else is written down with its time, "stop" ends the system. */
    private Behavior<String> recorder(Clock clock) {
        return Behaviors.withTimers(timers -> Behaviors.receiveMessage(text -> record(clock, timers, text)));
    }

    private Behavior<String> record(Clock clock, TimerScheduler<String> timers, String text) {
        if (text.startsWith("after ")) {
            long delay = Long.parseLong(text.substring("after ".length()));
            timers.startSingleTimer(numTimers++, "timer " + delay, Duration.ofNanos(delay));
        } else if (text.equals("fixed rate")) {
            timers.startTimerAtFixedRate("tick", Duration.ofNanos(1));
        } else if (text.equals("over?")) {
            events.add(clock.nowNanos() + " " + clock.isInstantOver());
        } else {
            events.add(clock.nowNanos() + " " + text);
        }
        return text.equals("stop") ? Behaviors.stopped() : Behaviors.same();
    }

    private void tell(String... texts) {
        List.of(texts).forEach(time.system()::tell);
    }

    @Test
    void pausedAtFirst_deliversMessagesButFiresNoTimer() {
        tell("after 0", "hello");
        awaitEvents(1);

        assertThat(events).containsExactly("0 hello");
        assertThat(time.nowNanos()).isZero();
    }

    @Test
    void advance_firesWhatIsDueInOrderOfTimeThenCreation() {
        tell("after 7", "after 3", "after 7", "after 11");

        time.advance(Duration.ofNanos(10));

        assertThat(events).containsExactly("3 timer 3", "7 timer 7", "7 timer 7");
        assertThat(time.nowNanos()).isEqualTo(10);
    }

    @Test
    void advanceByNothing_firesZeroDelayTimersOfThisInstant() {
        tell("after 0", "first");

        time.advance(Duration.ZERO);

        assertThat(events).containsExactly("0 first", "0 timer 0");
    }

    /** Two timers at 4 ns, of which one is cancelled, and one each at 0 and 9: they come in the order of their times. */
    @Test
    void tellAfter_sendsInOrderUnlessCancelled() {
        time.tellAfter(9, time.system(), "9");
        time.tellAfter(4, time.system(), "4, cancelled").cancel();
        time.tellAfter(4, time.system(), "4");
        time.tellAfter(0, time.system(), "0");

        time.advance(Duration.ofNanos(9));

        assertThat(events).containsExactly("0 0", "4 4", "9 9");
    }

    /** The first of two timers at 4 ns knows of the second one. */
    @Test
    void instant_isOverOnceNothingElseIsDue() {
        time.tellAfter(4, time.system(), "over?");
        time.tellAfter(4, time.system(), "over?");

        time.advance(Duration.ofNanos(4));

        assertThat(events).containsExactly("4 false", "4 true");
    }

    @Test
    void step_jumpsToTheNextTimerAndRunsItsWholeInstant() {
        tell("after 5", "after 5", "after 9");
        time.advance(Duration.ZERO);

        assertThat(time.step()).isEqualTo(5);
        assertThat(events).containsExactly("5 timer 5", "5 timer 5");
        assertThat(time.step()).isEqualTo(9);
        assertThat(time.step()).as("nothing is left").isEqualTo(9);
    }

    @Test
    void run_jumpsThroughYearsAtOnce() {
        long year = Duration.ofDays(365).toNanos();
        tell("after " + year, "after " + 10 * year);

        time.run(Double.POSITIVE_INFINITY);
        awaitEvents(2);

        assertThat(events).containsExactly(year + " timer " + year, 10 * year + " timer " + 10 * year);
        assertThat(time.lateness().count()).as("only a paced run is measured").isZero();
    }

    @Test
    void idleListener_hearsWhenNothingIsLeft() throws InterruptedException {
        var idle = new CountDownLatch(1);
        time.onIdle(idle::countDown);
        tell("after 5");

        time.run(Double.POSITIVE_INFINITY);

        assertThat(idle.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(events).containsExactly("5 timer 5");
    }

    @Test
    void cancelledTimer_doesNotMoveTheClock() {
        var scheduler = Adapter.toClassic(time.system()).scheduler();
        var timer = scheduler.scheduleOnce(
                Duration.ofNanos(50),
                () -> events.add("cancelled"),
                time.system().executionContext());
        time.advance(Duration.ofNanos(10));

        assertThat(timer.cancel()).isTrue();
        assertThat(timer.cancel()).as("a second time").isFalse();
        assertThat(timer.isCancelled()).isTrue();
        assertThat(time.step()).isEqualTo(10);
        assertThat(events).isEmpty();
    }

    @Test
    void step_countsTimersThatWaitingMessagesSet() {
        tell("after 7");
        time.advance(Duration.ZERO);
        // The step asks for the next instant before the loop has seen this message, but its timer comes first.
        tell("after 3");

        assertThat(time.step()).isEqualTo(3);
        assertThat(events).containsExactly("3 timer 3");
    }

    @Test
    void advanceAndStepAfterClose_failInsteadOfWaiting() {
        time.close();

        assertThatThrownBy(() -> time.advance(Duration.ofNanos(1))).hasRootCauseMessage("the loop has ended");
        assertThatThrownBy(time::step).hasRootCauseMessage("the loop has ended");
    }

    @Test
    void speedThatIsNone_isRefusedWhereItIsGiven() {
        assertThatThrownBy(() -> time.run(0)).hasMessage("speed must be above 0: 0.0");
        assertThatThrownBy(() -> time.run(Double.NaN)).hasMessageContaining("NaN");
    }

    @Test
    void workThatNeverComesToRest_canStillBeClosed() {
        time.post(this::again);

        time.close();

        assertThat(time.whenStopped().toCompletableFuture()).isDone();
    }

    private void again() {
        time.post(this::again);
    }

    @Test
    void fixedRateTimer_isRefusedWithAClearError() {
        var refusal = new CompletableFuture<Throwable>();
        time.post(() -> {
            try {
                Adapter.toClassic(time.system())
                        .scheduler()
                        .scheduleAtFixedRate(
                                Duration.ofNanos(1),
                                Duration.ofNanos(1),
                                () -> {},
                                time.system().executionContext());
            } catch (UnsupportedOperationException e) {
                refusal.complete(e);
            }
        });

        assertThat(refusal.join()).hasMessageContaining("fixed-rate timers are not supported in virtual time");
    }

    @Test
    void actorWithAFixedRateTimer_fails() {
        tell("fixed rate");

        time.advance(Duration.ofNanos(5));

        assertThat(time.system().getWhenTerminated().toCompletableFuture()).succeedsWithin(Duration.ofSeconds(10));
        assertThat(events).isEmpty();
    }

    @Test
    void contextClassLoaderThatKnowsNothing_doesNotMatter() throws InterruptedException {
        var failure = new AtomicReference<Throwable>();
        var stranger = new Thread(
                () -> VirtualTime.create("other", clock -> Behaviors.empty()).close());
        stranger.setContextClassLoader(ClassLoader.getPlatformClassLoader());
        stranger.setUncaughtExceptionHandler((thread, thrown) -> failure.set(thrown));

        stranger.start();
        stranger.join();

        assertThat(failure).hasNullValue();
    }

    @Test
    void close_worksAfterTheSystemHasEndedByItself() {
        tell("stop");
        time.system().getWhenTerminated().toCompletableFuture().join();

        time.close();

        assertThat(time.whenStopped().toCompletableFuture()).isCompleted();
    }

    @Test
    void errorThatNoActorSurvives_isReportedAndDoesNotHangClose() {
        time.post(() -> {
            throw new LinkageError("simulated");
        });

        assertThat(time.whenStopped().toCompletableFuture())
                .failsWithin(Duration.ofSeconds(10))
                .withThrowableOfType(ExecutionException.class)
                .withMessageContaining("simulated");
        time.close();
    }

    @Test
    void waitingForTheLoopOnTheLoop_isRefused() {
        var refusal = new CompletableFuture<Throwable>();
        time.post(() -> {
            try {
                time.advance(Duration.ofNanos(1));
            } catch (IllegalStateException e) {
                refusal.complete(e);
            }
        });

        assertThat(refusal.join()).hasMessageContaining("must not be called by an actor");
    }

    /** The only way to wait for the loop while it is paused or jumping; it is at most a few messages behind. */
    private void awaitEvents(int count) {
        while (events.size() < count) {
            var passed = new CompletableFuture<Void>();
            time.post(() -> passed.complete(null));
            passed.join();
        }
    }
}
