package understudy.chaos.autoscaler.reference;

import java.util.concurrent.TimeUnit;
import understudy.chaos.autoscaler.AutoscalerUnderTest;

/**
 * The rules of the house as an autoscaler, inside the kit.
 *
 * @param wrong what it gets wrong
 */
public record ReferenceAutoscaler(WrongScaling wrong) implements AutoscalerUnderTest {
    private static final long STOP_MILLIS = TimeUnit.SECONDS.toMillis(5);

    @Override
    public String name() {
        return wrong == WrongScaling.NONE ? "reference" : wrong.text();
    }

    @Override
    public Running start(Setup setup) {
        var loop = new ScaleLoop(setup, wrong);
        var thread = new Thread(loop, "reference-autoscaler");
        thread.setDaemon(true);
        thread.start();
        return new Running() {
            @Override
            public boolean isAlive() {
                return thread.isAlive();
            }

            @Override
            public String end() {
                return "has ended";
            }

            @Override
            public void close() {
                loop.stop();
                try {
                    thread.join(STOP_MILLIS);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
        };
    }
}
