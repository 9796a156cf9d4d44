package understudy.report;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Total of a result, emulated or measured, by its name; in the order of {@code vllm bench serve}'s first block. */
public enum Total {
    COMPLETED("Successful requests", Unit.NONE),
    FAILED("Failed requests", Unit.NONE),
    MAX_CONCURRENCY("Maximum request concurrency", Unit.NONE),
    REQUEST_RATE("Request rate configured", Unit.REQUESTS_WANTED_PER_SECOND),
    ABORTED("Aborted requests", Unit.NONE),
    REJECTED("Rejected requests", Unit.NONE),
    /** Those of the rejected requests that were turned away because of the load, by reason. */
    LOAD_SHED("", Unit.NONE),
    ABANDONED("Abandoned follow-up turns", Unit.NONE),
    UNFINISHED("Unfinished requests", Unit.NONE),
    RETRIES("Retries", Unit.NONE),
    DURATION("Benchmark duration", Unit.SECONDS),
    TOTAL_INPUT_TOKENS("Total input tokens", Unit.NONE),
    TOTAL_OUTPUT_TOKENS("Total generated tokens", Unit.NONE),
    REQUEST_THROUGHPUT("Request throughput", Unit.REQUESTS_PER_SECOND),
    REQUEST_GOODPUT("Request goodput", Unit.REQUESTS_PER_SECOND),
    OUTPUT_THROUGHPUT("Output token throughput", Unit.TOKENS_PER_SECOND),
    MAX_OUTPUT_TOKENS_PER_S("Peak output token throughput", Unit.TOKENS_PER_SECOND),
    MAX_CONCURRENT_REQUESTS("Peak concurrent requests", Unit.NONE),
    TOTAL_TOKEN_THROUGHPUT("Total token throughput", Unit.TOKENS_PER_SECOND);

    private final String title;
    private final Unit unit;

    Total(String title, Unit unit) {
        this.title = title;
        this.unit = unit;
    }

    /** Returns the key in JSON, for a column of a sweep, and for a comparison. */
    public String key() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Adds the total to figures; people see it unless it is no number. */
    public void add(@Nullable Object value, Figures figures) {
        figures.add(key(), title, unit, value);
    }

    /** Adds a count that vLLM prints with decimals. */
    public void addWithDecimals(long count, Figures figures) {
        figures.add(key(), title, Unit.DECIMALS, count);
    }

    /** Adds a count that people see if there are any. */
    public void addCount(long count, Figures figures) {
        figures.add(key(), count > 0 ? title : "", unit, count);
    }

    /** Adds the first block to a result, with those of the totals that are among its figures. */
    public static void addBlock(boolean isPartial, List<Total> some, Result result) {
        result.block(
                isPartial ? " Serving Benchmark Result (partial) " : " Serving Benchmark Result ",
                '=',
                some.stream().map(Total::key).toList());
    }

    /** Returns all totals but some, in their order. */
    public static List<Total> allBut(Total... some) {
        var others = List.of(some);
        return Arrays.stream(values()).filter(each -> !others.contains(each)).toList();
    }
}
