package understudy.api.admin;

import java.time.Duration;
import understudy.runtime.VirtualTime;

/** The controls of a {@link VirtualTime}. */
public record VirtualClockControl(VirtualTime<?> time) implements ClockControl {
    @Override
    public void run(double speed) {
        time.run(speed);
    }

    @Override
    public void pause() {
        time.pause();
    }

    @Override
    public long step() {
        return time.step();
    }

    @Override
    public void advance(Duration duration) {
        time.advance(duration);
    }
}
