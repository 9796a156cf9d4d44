package understudy.api.model;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Looks for stop strings in a growing text (vLLM {@code v1/engine/detokenizer.py}): as long as one of them might have
 * begun, the last characters are held back.
 */
public final class StopStrings {
    private final List<String> stops;
    private final boolean isIncluded;
    private final int numHeldBack;
    private final StringBuilder text = new StringBuilder();
    private int numSent;
    private @Nullable String found;

    /**
     * Creates a search.
     *
     * @param stops strings that end the text, none of them empty
     * @param isIncluded whether the stop string is part of the text
     */
    public StopStrings(List<String> stops, boolean isIncluded) {
        this.stops = stops;
        this.isIncluded = isIncluded;
        int longest = stops.stream().mapToInt(String::length).max().orElse(1);
        numHeldBack = isIncluded ? 0 : longest - 1;
    }

    /** Returns the stop string that was found, or null. */
    public @Nullable String found() {
        return found;
    }

    /**
     * Appends text, and returns the text that may be sent now.
     *
     * @param mayStop whether a stop string counts in this part
     */
    public String append(String added, boolean mayStop) {
        if (stops.isEmpty()) {
            return added;
        }
        text.append(added);
        if (mayStop && !added.isEmpty()) {
            search(added.length());
        }
        return send(found != null ? text.length() : Math.max(numSent, text.length() - numHeldBack));
    }

    /** Returns the text that was held back; no more follows. */
    public String end() {
        return send(text.length());
    }

    private void search(int numAdded) {
        for (String stop : stops) {
            int from = Math.max(0, text.length() - numAdded - stop.length() + 1);
            int at = text.indexOf(stop, from);
            if (at >= 0) {
                found = stop;
                text.setLength(isIncluded ? at + stop.length() : at);
                return;
            }
        }
    }

    private String send(int end) {
        int from = Math.min(numSent, end);
        numSent = Math.max(numSent, end);
        return text.substring(from, end);
    }
}
