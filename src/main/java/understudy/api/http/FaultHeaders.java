package understudy.api.http;

import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import understudy.faults.FaultParser;
import understudy.faults.RequestFault;
import understudy.settings.EntryFields;

/**
 * Faults of a single request, by its headers: {@code X-Understudy-Fail: 429} (or {@code true}, for 500), {@code
 * X-Understudy-Cut-After-Tokens: 5}, {@code X-Understudy-Reset-After-Tokens: 5}, {@code X-Understudy-Malformed-At-Token:
 * 5}, {@code X-Understudy-Delay: 200ms}.
 */
public final class FaultHeaders {
    /** The request is answered by an error, of this status. */
    public static final String FAIL = "X-Understudy-Fail";

    /** The answer breaks off after so many tokens, and its connection is closed behind them. */
    public static final String CUT_AFTER_TOKENS = "X-Understudy-Cut-After-Tokens";

    /** The answer breaks off after so many tokens, and its connection is reset: the last of them may be lost. */
    public static final String RESET_AFTER_TOKENS = "X-Understudy-Reset-After-Tokens";

    /** The event of a stream with this output token, counted from 1, is broken JSON. */
    public static final String MALFORMED_AT_TOKEN = "X-Understudy-Malformed-At-Token";

    /** The request reaches the waiting queue so much later, in virtual time. */
    public static final String DELAY = "X-Understudy-Delay";

    private static final String PREFIX = "X-Understudy-";
    private static final List<String> ALL =
            List.of(FAIL, CUT_AFTER_TOKENS, RESET_AFTER_TOKENS, MALFORMED_AT_TOKEN, DELAY);

    private FaultHeaders() {}

    /** Returns whether a header looks like one of these. */
    static boolean isOne(String name) {
        return name.regionMatches(true, 0, PREFIX, 0, PREFIX.length());
    }

    /**
     * Refuses a header that looks like one of these and is none.
     *
     * @throws IllegalArgumentException if it does; the message names those that there are
     */
    public static void requireKnown(String name) {
        if (isOne(name) && ALL.stream().noneMatch(name::equalsIgnoreCase)) {
            throw new IllegalArgumentException("unknown header " + name + ", must be one of " + String.join(", ", ALL));
        }
    }

    /**
     * Reads the headers of a request, as far as they are the cluster's business.
     *
     * @param header returns the value of the header of that name, if there is one
     * @throws IllegalArgumentException if a value cannot be used; the message says which, and what is allowed
     */
    public static RequestFault read(Function<String, Optional<String>> header) {
        int failStatus = header.apply(FAIL).map(FaultHeaders::status).orElse(0);
        int cut = token(CUT_AFTER_TOKENS, header);
        long delayNanos =
                header.apply(DELAY).map(text -> EntryFields.nanos(DELAY, text)).orElse(0L);
        var fault = new RequestFault(failStatus, cut, delayNanos, false);
        return fault.plus(new RequestFault(0, token(RESET_AFTER_TOKENS, header), 0, true));
    }

    /**
     * Reads the header that is the edge's own business; 0 is none.
     *
     * @throws IllegalArgumentException if it cannot be used
     */
    static int malformedAtToken(Function<String, Optional<String>> header) {
        return token(MALFORMED_AT_TOKEN, header);
    }

    private static int token(String name, Function<String, Optional<String>> header) {
        return header.apply(name)
                .map(text -> EntryFields.wholeNumber(name, text, 1, Integer.MAX_VALUE))
                .orElse(0);
    }

    private static int status(String text) {
        return switch (text) {
            case "true" -> RequestFault.DEFAULT_STATUS;
            case "false" -> 0;
            default -> FaultParser.status(FAIL, text, "true, false or ");
        };
    }
}
