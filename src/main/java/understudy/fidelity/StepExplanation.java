package understudy.fidelity;

import com.github.freva.asciitable.Column;
import com.github.freva.asciitable.ColumnData;
import com.github.freva.asciitable.HorizontalAlign;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import understudy.latency.BatchShape;
import understudy.latency.LatencyModel;
import understudy.latency.Share;
import understudy.report.Tables;
import understudy.settings.ScenarioException;

/** Breakdown of the time of one step, for a batch given in words. */
public final class StepExplanation {
    private static final Pattern GROUP = Pattern.compile("(\\d{1,7})x(\\d{1,9})(?:@(\\d{1,9}))?");
    private static final int MAX_SEQUENCES = 1_000_000;
    private static final long MAX_TOKENS = 100_000_000;
    private static final double NANOS_PER_MICRO = 1e3;

    private StepExplanation() {}

    /**
     * Returns a table.
     *
     * @param batch groups of equal sequences, such as {@code 32x1@1000,1x512}: 32 decodes with 1000 tokens in the KV
     *     cache, and a chunk of 512 tokens at the beginning of a prompt
     */
    public static String table(LatencyModel model, String batch) {
        var shape = parse(batch);
        var shares = model.explain(shape);
        double total = shares.stream().mapToDouble(Share::nanos).sum();
        String heading = String.format(
                Locale.ROOT,
                "A step of %d decodes (%d tokens attended to) and %d prefill chunks (%d tokens): %.1f us%n",
                shape.numDecodes(),
                shape.decodeKvTokens(),
                shape.numChunks(),
                shape.numPrefillTokens(),
                model.stepNanos(shape) / NANOS_PER_MICRO);
        List<ColumnData<Share>> columns = List.of(
                new Column().header("part").dataAlign(HorizontalAlign.LEFT).with(Share::part),
                new Column().header("us").with(s -> decimal(s.nanos() / NANOS_PER_MICRO)),
                new Column().header("%").with(s -> decimal(s.nanos() / total * 100)));
        return heading + Tables.text(shares, columns) + "\n";
    }

    private static BatchShape parse(String batch) {
        var builder = new BatchShape.Builder();
        for (String group : batch.split(",", -1)) {
            var parts = GROUP.matcher(group.strip());
            if (!parts.matches() || !isSensible(parts)) {
                throw new ScenarioException("--explain-step: \"" + group.strip()
                        + "\" must be SEQUENCESxTOKENS[@CONTEXT] with 1 to " + MAX_SEQUENCES
                        + " sequences and 1 to " + MAX_TOKENS + " tokens in all, such as 32x1@1000,1x512");
            }
            int context = parts.group(3) == null ? 0 : Integer.parseInt(parts.group(3));
            for (int i = 0; i < Integer.parseInt(parts.group(1)); i++) {
                builder.add(Integer.parseInt(parts.group(2)), context, true);
            }
        }
        return builder.build();
    }

    private static boolean isSensible(Matcher group) {
        long sequences = Long.parseLong(group.group(1));
        long tokens = Long.parseLong(group.group(2));
        return sequences >= 1 && sequences <= MAX_SEQUENCES && tokens >= 1 && sequences * tokens <= MAX_TOKENS;
    }

    private static String decimal(double value) {
        return String.format(Locale.ROOT, "%.1f", value);
    }
}
