package understudy.app.console;

import java.util.Locale;
import java.util.OptionalLong;

/**
 * Progress bar of a run.
 *
 * @param total requests of the run, if that is known
 */
public record ProgressBar(StatusLine status, OptionalLong total) {
    public void draw(long numEnded, double virtualSeconds, double wallSeconds) {
        if (status.isVisible()) {
            status.draw(line(numEnded, virtualSeconds, wallSeconds));
        }
    }

    public void clear() {
        status.clear();
    }

    /**
     * Returns the line: bar and share if the total is known, requests, virtual time, and how much faster than life it
     * is.
     */
    public String line(long numEnded, double virtualSeconds, double wallSeconds) {
        long seconds = (long) virtualSeconds;
        double speedUp = wallSeconds > 0 ? virtualSeconds / wallSeconds : 0;
        String requests = total.isPresent()
                ? StatusLine.bar((double) numEnded / Math.max(1, total.getAsLong())) + numEnded + "/"
                        + total.getAsLong()
                : String.valueOf(numEnded);
        return String.format(
                Locale.ROOT,
                "%s requests, %d:%02d:%02d of virtual time, %.0f x real time",
                requests,
                seconds / 3600,
                seconds / 60 % 60,
                seconds % 60,
                speedUp);
    }
}
