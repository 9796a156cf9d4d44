package understudy.report;

import de.siegmar.fastcsv.writer.CsvWriter;
import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.ints.IntList;
import java.io.IOException;
import java.io.Writer;
import java.util.Locale;
import java.util.stream.IntStream;
import understudy.kvcache.PrefixCacheEvent;

/**
 * Writes one line per prefix-cache event, in order of time, with the fields of the session cache's {@code
 * log_prefix_cache_event}. A request looks into the cache when it is first admitted, and all its events have that time.
 */
public final class PrefixCacheEventsCsv {
    private static final String[] HEADER = {
        "request_id", "timestamp_ms", "event_type", "cached_prefix_length", "num_tokens_prefilled_after_cache_check"
    };

    private PrefixCacheEventsCsv() {}

    /** Writes header and lines; the caller closes {@code out}. */
    public static void write(RequestLog requests, Writer out) throws IOException {
        var csv = CsvWriter.builder().build(out);
        csv.writeRecord(HEADER);
        for (int index : byTime(requests)) {
            var request = requests.get(index);
            for (var event : request.events().list()) {
                csv.writeRecord(line(request, event));
            }
        }
        csv.flush();
    }

    /** Returns the indexes of the requests that looked into the cache, in the order in which they did. */
    private static IntList byTime(RequestLog requests) {
        var looked = IntArrayList.toList(
                IntStream.range(0, requests.size()).filter(index -> requests.events.get(index) != 0));
        looked.sort((a, b) -> {
            int order = Long.compare(requests.scheduledNanos.get(a), requests.scheduledNanos.get(b));
            return order != 0 ? order : Long.compare(requests.requestIds.get(a), requests.requestIds.get(b));
        });
        return looked;
    }

    /** A miss that was followed by a hit elsewhere has found nothing itself. */
    private static String[] line(RequestRecord request, PrefixCacheEvent event) {
        boolean isMiss =
                event == PrefixCacheEvent.MISS_FULL || event == PrefixCacheEvent.CONVERSATIONAL_MISS_UNEXPECTED_PROMPT;
        int numCached = isMiss ? 0 : request.numCachedTokens();
        return new String[] {
            String.valueOf(request.requestId()),
            RequestsCsv.millis(request.scheduledNanos()),
            event.name().toUpperCase(Locale.ROOT),
            String.valueOf(numCached),
            String.valueOf(request.numPrefilledTokens())
        };
    }
}
