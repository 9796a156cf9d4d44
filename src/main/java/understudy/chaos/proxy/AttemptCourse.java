package understudy.chaos.proxy;

import java.nio.charset.StandardCharsets;
import java.util.OptionalLong;
import java.util.function.BiConsumer;
import java.util.regex.Pattern;
import understudy.chaos.evidence.Attempt;
import understudy.chaos.evidence.AttemptBuilder;

/** Records what becomes of one request. That of a probe is recorded nowhere. */
interface AttemptCourse {
    Pattern CACHED_TOKENS = Pattern.compile("\"cached_tokens\":\\s?(\\d{1,9})");
    Pattern PROMPT_TOKENS = Pattern.compile("\"prompt_tokens\":\\s?(\\d{1,9})");

    /** Of a request that is not recorded. */
    AttemptCourse UNRECORDED = change -> {};

    /** Changes the record; see {@link AttemptLog#change}. */
    void change(BiConsumer<Attempt, AttemptBuilder> change);

    /** Begins the record of a generation. */
    static AttemptCourse begin(
            AttemptLog log, String callId, String replica, long connection, boolean hasBadCertificate) {
        int attempt = log.begin(callId, replica, connection, hasBadCertificate);
        return change -> log.change(attempt, change);
    }

    /** Records the head of the response. */
    default void answered(int status, OptionalLong retryAfterSeconds) {
        change((soFar, attempt) -> attempt.status(status).retryAfterSeconds(retryAfterSeconds));
    }

    /** Records a part of the body, and what it says of tokens. */
    default void passed(byte[] part, long nowNanos) {
        String text = new String(part, StandardCharsets.ISO_8859_1);
        change((soFar, attempt) -> attempt.firstBodyByteNanos(
                        soFar.firstBodyByteNanos() < 0 ? nowNanos : soFar.firstBodyByteNanos())
                .bodyBytes(soFar.bodyBytes() + part.length)
                .cachedTokens(number(CACHED_TOKENS, text, soFar.cachedTokens()))
                .promptTokens(number(PROMPT_TOKENS, text, soFar.promptTokens())));
    }

    private static int number(Pattern pattern, String text, int orElse) {
        var number = pattern.matcher(text);
        return number.find() ? Integer.parseInt(number.group(1)) : orElse;
    }

    /** Records the end: a response that came whole is complete with a status of 2xx, and else a refusal. */
    default void ended(long nowNanos) {
        change((soFar, attempt) -> attempt.endNanos(nowNanos)
                .ending(soFar.status() / 100 == 2 ? Attempt.Ending.COMPLETED : Attempt.Ending.REFUSED));
    }

    /** Records an end before that of the response. */
    default void brokenOff(Attempt.Ending ending, long nowNanos) {
        change((soFar, attempt) -> attempt.endNanos(nowNanos).ending(ending));
    }
}
