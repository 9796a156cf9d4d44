package understudy.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class EventLoopTest {
    private static final int NUM_TIMERS = 1_000;

    private final EventLoop loop = new EventLoop("loop");

    @BeforeEach
    void startLoop() {
        loop.start();
    }

    @AfterEach
    void stopLoop() {
        loop.stop();
        loop.whenStopped().join();
    }

    @Test
    void timersCancelledOnTheLoop_leaveTheHeap() {
        var left = new CompletableFuture<Integer>();
        loop.execute(() -> {
            timers().forEach(VirtualTimer::cancel);
            left.complete(loop.numTimersKept());
        });

        // 65 cancelled ones may stay, since looking for them costs as much as they do.
        assertThat(left.join()).isLessThanOrEqualTo(65);
    }

    @Test
    void timersCancelledFromOutside_leaveTheHeapToo() {
        var made = new CompletableFuture<List<VirtualTimer>>();
        loop.execute(() -> made.complete(timers()));
        made.join().forEach(VirtualTimer::cancel);
        loop.runUntil(0).join();
        var left = new CompletableFuture<Integer>();
        loop.execute(() -> left.complete(loop.numTimersKept()));

        assertThat(left.join()).isLessThanOrEqualTo(65);
    }

    private List<VirtualTimer> timers() {
        var timers = new ArrayList<VirtualTimer>();
        for (int i = 0; i < NUM_TIMERS; i++) {
            var timer = new VirtualTimer(loop, () -> {});
            loop.schedule(timer, 1_000_000_000);
            timers.add(timer);
        }
        return timers;
    }
}
