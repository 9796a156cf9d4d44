package understudy.latency;

import java.util.ArrayList;
import java.util.List;

/**
 * Bounds of what kernels were measured with.
 *
 * @param maxTokens most tokens of a step
 * @param maxSequences most sequences of a step
 * @param maxContext most tokens of a sequence
 */
public record MeasuredRange(int maxTokens, int maxSequences, int maxContext) {

    /** Returns a line for each bound of a scheduler that lies beyond; see {@link LatencyModel#warnings}. */
    public List<String> warnings(int tokens, int sequences, int context) {
        var lines = new ArrayList<String>();
        warn(lines, "steps of up to " + tokens + " tokens", tokens, maxTokens);
        warn(lines, "steps of up to " + sequences + " sequences", sequences, maxSequences);
        warn(lines, "sequences of up to " + context + " tokens", context, maxContext);
        return lines;
    }

    private static void warn(List<String> lines, String what, int bound, int measured) {
        if (bound > measured) {
            lines.add(
                    "latency.profiled: " + what + ", measured up to " + measured + "; beyond, times are extrapolated");
        }
    }
}
