package understudy.chaos.proxy;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.BiConsumer;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import understudy.chaos.evidence.Attempt;
import understudy.chaos.evidence.Attempt.Ending;
import understudy.chaos.evidence.AttemptBuilder;
import understudy.chaos.proxy.ReplicaFault.Kind;
import understudy.chaos.wire.BodyParts;
import understudy.chaos.wire.HttpHead;
import understudy.chaos.wire.Wire;
import understudy.json.Jackson;

/** A connection of the gateway to a replica, and one request after the other on it. */
final class ReplicaConnection {
    private static final int MAX_BODY_BYTES = 1 << 24;
    private static final int CONNECT_MILLIS = 2000;
    private static final Pattern CALL_ID = Pattern.compile("call-\\d+");
    private static final Pattern CACHED_TOKENS = Pattern.compile("\"cached_tokens\":\\s?(\\d+)");
    private static final Pattern PROMPT_TOKENS = Pattern.compile("\"prompt_tokens\":\\s?(\\d+)");
    private static final String ADAPTER = "chaos-adapter";
    private static final Pattern OF_ADAPTER = Pattern.compile("\"model\"\\s*:\\s*\"" + ADAPTER + "\"");
    private static final Duration SKEW = Duration.ofHours(1);

    private final Interposer replica;
    private final Wire wire;
    private final long number;
    private volatile boolean isBusy;
    private volatile boolean isGenerating;
    private volatile boolean isKilled;
    private volatile @Nullable Wire upstream;

    /** The gateway has closed the connection. */
    private static final class LeftException extends IOException {
        private static final long serialVersionUID = 1;
    }

    /** The fault wants the connection to end here. */
    private static final class BrokenException extends IOException {
        private static final long serialVersionUID = 1;
        private final boolean isReset;

        BrokenException(boolean isReset) {
            this.isReset = isReset;
        }
    }

    /** Where what happens to a request is recorded; a probe is recorded nowhere. */
    private interface Course {
        void change(BiConsumer<Attempt, AttemptBuilder> change);
    }

    ReplicaConnection(Interposer replica, Wire wire, long number) {
        this.replica = replica;
        this.wire = wire;
        this.number = number;
    }

    boolean isBusy() {
        return isBusy;
    }

    /** Returns whether a generation is under way, and not only a probe. */
    boolean isGenerating() {
        return isGenerating;
    }

    /** Resets it from another thread. */
    void kill() {
        isKilled = true;
        wire.reset();
        var engine = upstream;
        if (engine != null) {
            engine.close();
        }
    }

    /** Serves requests until one side closes the connection. */
    void run() {
        try {
            boolean isKept = true;
            for (int count = 0; isKept; count++) {
                var head = HttpHead.read(wire, this::checkNotKilled);
                isKept = head != null && serve(head, count);
            }
        } catch (BrokenException e) {
            if (e.isReset) {
                wire.reset();
            }
        } catch (IOException e) {
            // The gateway has left, or sends what is no HTTP: there is nothing to be answered.
        } finally {
            isBusy = false;
            wire.close();
        }
    }

    private void checkNotKilled() throws IOException {
        if (isKilled) {
            throw new BrokenException(true);
        }
    }

    private void checkNotLeft() throws IOException {
        checkNotKilled();
        if (wire.isLeft()) {
            throw new LeftException();
        }
    }

    private boolean serve(HttpHead head, int numBefore) throws IOException {
        isBusy = true;
        try {
            if (head.header("Expect").isPresent()) {
                wire.send("HTTP/1.1 100 Continue\r\n\r\n".getBytes(StandardCharsets.ISO_8859_1));
            }
            byte[] body = head.readBody(wire, MAX_BODY_BYTES, this::checkNotKilled);
            var id = CALL_ID.matcher(new String(body, StandardCharsets.ISO_8859_1));
            boolean isGeneration = head.method().equals("POST") && id.find();
            isGenerating = isGeneration;
            return isGeneration ? generate(head, body, id.group(), numBefore) : probe(head, body);
        } finally {
            isGenerating = false;
            isBusy = false;
        }
    }

    // ---- probes ----

    private boolean probe(HttpHead head, byte[] body) throws IOException {
        if (replica.fault(Kind.ZOMBIE).isPresent()) {
            hang();
        }
        String path = head.path();
        boolean isHealth = path.startsWith("/health");
        boolean isMetrics = path.equals("/metrics");
        if (isHealth && (has(Kind.WARMING) || has(Kind.DRAIN))) {
            return answer(head, 503, "text/plain", "", 0);
        }
        if (isMetrics && has(Kind.HUNG_METRICS)) {
            hang();
        }
        if (isMetrics && has(Kind.FAILED_METRICS)) {
            return answer(head, 500, "text/plain", "Internal Server Error", 0);
        }
        if (path.equals("/v1/models") && has(Kind.WRONG_MODELS)) {
            String models = "{\"object\":\"list\",\"data\":[{\"id\":\"another-model\",\"object\":\"model\"}]}";
            return answer(head, 200, "application/json", models, 0);
        }
        return forward(head, body, Optional.empty(), change -> {}, rewriteOf(path));
    }

    private @Nullable UnaryOperator<String> rewriteOf(String path) {
        return switch (path) {
            case "/metrics" -> this::metrics;
            case "/v1/models" -> has(Kind.NO_ADAPTER) ? ReplicaConnection::withoutAdapter : null;
            default -> null;
        };
    }

    /** Returns a list of models without the adapter. */
    private static String withoutAdapter(String models) {
        try {
            var root = Jackson.mapper().readTree(models);
            if (root.path("data") instanceof ArrayNode list) {
                list.removeIf(model -> model.path("id").asText().equals(ADAPTER));
            }
            return root.toString();
        } catch (JacksonException e) {
            return models;
        }
    }

    private boolean has(Kind kind) {
        return replica.fault(kind).isPresent();
    }

    /** Returns a text of {@code /metrics} as the faults want it. */
    private String metrics(String text) {
        String changed = text;
        var stale = replica.metricsAtBegin(Kind.STALE_METRICS, text);
        if (stale.isPresent()) {
            changed = stale.get();
        }
        var restarted = replica.metricsAtBegin(Kind.RESTARTED_COUNTERS, text);
        if (restarted.isPresent()) {
            changed = MetricsText.restarted(changed, restarted.get());
        }
        var vanished = replica.fault(Kind.VANISHED_SERIES);
        if (vanished.isPresent()) {
            changed = MetricsText.without(changed, vanished.get().series().keySet());
        }
        var figures = replica.fault(Kind.FALSE_METRICS);
        return figures.isPresent() ? MetricsText.with(changed, figures.get().series()) : changed;
    }

    // ---- generations ----

    private boolean generate(HttpHead head, byte[] body, String callId, int numBefore) throws IOException {
        var log = replica.log();
        int attempt = log.begin(callId, replica.name(), number);
        Course course = change -> log.change(attempt, change);
        try {
            boolean isKept = generate(head, body, numBefore, course);
            course.change((soFar, end) ->
                    end.endNanos(log.nowNanos()).ending(soFar.status() / 100 == 2 ? Ending.COMPLETED : Ending.REFUSED));
            return isKept;
        } catch (LeftException e) {
            course.change((soFar, end) -> end.endNanos(log.nowNanos()).ending(Ending.LEFT_BY_GATEWAY));
            throw e;
        } catch (IOException e) {
            boolean isBroken = e instanceof BrokenException || isKilled;
            course.change((soFar, end) ->
                    end.endNanos(log.nowNanos()).ending(isBroken ? Ending.BROKEN_BY_FAULT : Ending.LEFT_BY_GATEWAY));
            throw e;
        }
    }

    private boolean generate(HttpHead head, byte[] body, int numBefore, Course course) throws IOException {
        if (has(Kind.ZOMBIE) || replica.strike(Kind.STUCK).isPresent()) {
            hang();
        }
        if (numBefore > 0 && replica.strike(Kind.CLOSE_KEPT).isPresent()) {
            throw new BrokenException(false);
        }
        if (replica.strike(Kind.RESET).isPresent()) {
            throw new BrokenException(true);
        }
        var refusal = replica.strike(Kind.STATUS, Kind.WARMING, Kind.DRAIN);
        if (refusal.isPresent()) {
            return refuse(head, refusal.get(), course);
        }
        boolean isOfAdapter = OF_ADAPTER
                .matcher(new String(body, StandardCharsets.ISO_8859_1))
                .find();
        if (isOfAdapter && replica.strike(Kind.NO_ADAPTER).isPresent()) {
            String error = "{\"error\":{\"message\":\"The model `" + ADAPTER + "` does not exist.\","
                    + "\"type\":\"NotFoundError\",\"param\":\"model\",\"code\":404}}";
            course.change((soFar, attempt) -> attempt.status(404));
            return answer(head, 404, "application/json", error, 0);
        }
        var fault = replica.strike(
                Kind.STALL,
                Kind.CUT,
                Kind.RESET_MID_STREAM,
                Kind.BROKEN_JSON,
                Kind.BROKEN_SSE,
                Kind.SLOW_BODY,
                Kind.TRUNCATED_CHUNK,
                Kind.NO_DONE);
        return forward(head, body, fault, course, null);
    }

    private boolean refuse(HttpHead head, ReplicaFault fault, Course course) throws IOException {
        String error = String.format(
                Locale.ROOT,
                "{\"error\":{\"message\":\"the replica takes no requests\",\"type\":\"ServiceUnavailable\","
                        + "\"param\":null,\"code\":%d}}",
                fault.status());
        var wait = fault.retryAfterSeconds() > 0 ? OptionalLong.of(fault.retryAfterSeconds()) : OptionalLong.empty();
        course.change((soFar, attempt) -> attempt.status(fault.status()).retryAfterSeconds(wait));
        return answer(head, fault.status(), "application/json", error, fault.retryAfterSeconds());
    }

    /** Answers nothing until the gateway leaves or the fault ends; then the connection is broken. */
    private void hang() throws IOException {
        while (true) {
            replica.pause(20);
            checkNotKilled();
            if (wire.isLeft()) {
                throw new BrokenException(false);
            }
        }
    }

    private boolean answer(HttpHead request, int status, String type, String body, int retryAfterSeconds)
            throws IOException {
        String wait = retryAfterSeconds > 0 ? "Retry-After: " + retryAfterSeconds + "\r\n" : "";
        boolean isKept = request.keepsConnection();
        String text = "HTTP/1.1 " + status + " " + reason(status) + "\r\nContent-Type: " + type + "\r\n" + wait
                + "Connection: " + (isKept ? "keep-alive" : "close") + "\r\nContent-Length: " + body.length()
                + "\r\n\r\n" + (request.method().equals("HEAD") ? "" : body);
        wire.send(text.getBytes(StandardCharsets.US_ASCII));
        return isKept;
    }

    private static String reason(int status) {
        return switch (status) {
            case 200 -> "OK";
            case 404 -> "Not Found";
            case 429 -> "Too Many Requests";
            case 500 -> "Internal Server Error";
            case 503 -> "Service Unavailable";
            default -> "Status";
        };
    }

    // ---- forwarding ----

    private boolean forward(
            HttpHead head,
            byte[] body,
            Optional<ReplicaFault> fault,
            Course course,
            @Nullable UnaryOperator<String> rewrite)
            throws IOException {
        try (var engine = connect()) {
            upstream = engine;
            checkNotKilled();
            var sent = head.without("Transfer-Encoding").without("Expect").without("Accept-Encoding");
            engine.send((body.length > 0 ? sent.with("Content-Length", String.valueOf(body.length)) : sent).bytes());
            engine.send(body);
            var answer = engineHead(engine);
            var parts = BodyParts.ofResponse(answer, head.method(), engine);
            if (has(Kind.CLOCK_SKEW)) {
                answer = skewed(answer);
            }
            boolean isOpenEnded = !parts.isChunked() && answer.contentLength() < 0;
            boolean isKept = head.keepsConnection() && answer.keepsConnection() && !isOpenEnded;
            boolean isStream = answer.header("Content-Type").orElse("").startsWith("text/event-stream");
            boolean breaksWhole = !isStream
                    && fault.filter(each -> each.kind() == Kind.BROKEN_JSON).isPresent();
            int status = answer.status();
            var wait = answer.header("Retry-After").filter(each -> each.matches("\\d{1,9}"));
            course.change((soFar, attempt) -> attempt.status(status)
                    .retryAfterSeconds(wait.map(each -> OptionalLong.of(Long.parseLong(each)))
                            .orElse(OptionalLong.empty())));
            if (rewrite != null || breaksWhole) {
                byte[] whole = whole(parts);
                count(course, whole);
                byte[] changed = rewrite != null
                        ? rewrite.apply(new String(whole, StandardCharsets.UTF_8))
                                .getBytes(StandardCharsets.UTF_8)
                        : Arrays.copyOf(whole, whole.length / 2);
                wire.send(answer.without("Transfer-Encoding")
                        .with("Content-Length", String.valueOf(changed.length))
                        .bytes());
                wire.send(changed);
                return isKept;
            }
            wire.send(answer.bytes());
            new BodyBreaker(fault, isStream, parts.isChunked()).pass(parts, course);
            return isKept;
        } finally {
            upstream = null;
        }
    }

    private Wire connect() throws IOException {
        try {
            return Wire.connect(replica.engine(), CONNECT_MILLIS);
        } catch (IOException e) {
            // The engine has died, and so has the replica.
            throw new BrokenException(true);
        }
    }

    private HttpHead engineHead(Wire engine) throws IOException {
        try {
            return Objects.requireNonNullElseGet(
                    HttpHead.read(engine, this::checkNotLeft), () -> new HttpHead("", List.of()));
        } catch (LeftException | BrokenException e) {
            throw e;
        } catch (IOException e) {
            throw new BrokenException(true);
        }
    }

    private byte[] whole(BodyParts parts) throws IOException {
        var all = new ByteArrayOutputStream();
        for (byte[] part = next(parts); part.length > 0; part = next(parts)) {
            all.write(part);
        }
        return all.toByteArray();
    }

    /** Returns the next part from the engine; an engine that ends too soon breaks the connection. */
    private byte[] next(BodyParts parts) throws IOException {
        try {
            return parts.next(this::checkNotLeft);
        } catch (LeftException | BrokenException e) {
            throw e;
        } catch (IOException e) {
            throw new BrokenException(false);
        }
    }

    private HttpHead skewed(HttpHead answer) {
        try {
            var date = ZonedDateTime.parse(answer.header("Date").orElse(""), DateTimeFormatter.RFC_1123_DATE_TIME);
            return answer.with("Date", DateTimeFormatter.RFC_1123_DATE_TIME.format(date.plus(SKEW)));
        } catch (DateTimeParseException e) {
            return answer;
        }
    }

    /** Adds to an attempt what a part of the body says. */
    private void count(Course course, byte[] part) {
        long nowNanos = replica.log().nowNanos();
        String text = new String(part, StandardCharsets.ISO_8859_1);
        var cached = CACHED_TOKENS.matcher(text);
        var prompt = PROMPT_TOKENS.matcher(text);
        int numCached = cached.find() ? Integer.parseInt(cached.group(1)) : -1;
        int numPrompt = prompt.find() ? Integer.parseInt(prompt.group(1)) : -1;
        course.change((soFar, attempt) -> attempt.firstBodyByteNanos(
                        soFar.firstBodyByteNanos() < 0 ? nowNanos : soFar.firstBodyByteNanos())
                .bodyBytes(soFar.bodyBytes() + part.length)
                .cachedTokens(numCached < 0 ? soFar.cachedTokens() : numCached)
                .promptTokens(numPrompt < 0 ? soFar.promptTokens() : numPrompt));
    }

    /** Passes a body on, and breaks it where the fault wants it. */
    private final class BodyBreaker {
        private final @Nullable ReplicaFault fault;
        private final boolean isChunked;
        private final int at;
        private int numParts;

        BodyBreaker(Optional<ReplicaFault> fault, boolean isStream, boolean isChunked) {
            this.fault = fault.orElse(null);
            this.isChunked = isChunked;
            at = isStream && fault.isPresent() ? fault.get().afterEvents() : 0;
        }

        void pass(BodyParts parts, Course course) throws IOException {
            for (byte[] part = next(parts); part.length > 0; part = next(parts)) {
                byte[] passed = fault == null ? part : changed(part, fault, course);
                if (passed.length > 0) {
                    send(passed, course);
                }
                numParts++;
            }
            if (isChunked) {
                wire.send("0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            }
        }

        private byte[] changed(byte[] part, ReplicaFault active, Course course) throws IOException {
            boolean isHere = numParts == at;
            var half = Arrays.copyOf(part, part.length / 2);
            switch (active.kind()) {
                case SLOW_BODY -> {
                    replica.pause(active.delayMillis());
                    checkNotLeft();
                    return part;
                }
                case STALL -> {
                    if (isHere) {
                        hang();
                    }
                    return part;
                }
                case CUT, RESET_MID_STREAM -> {
                    if (isHere) {
                        // A body without chunks is cut within, and one with chunks between two of them.
                        if (!isChunked) {
                            send(half, course);
                        }
                        throw new BrokenException(active.kind() == Kind.RESET_MID_STREAM);
                    }
                    return part;
                }
                case TRUNCATED_CHUNK -> {
                    if (isHere) {
                        if (isChunked) {
                            wire.send((Integer.toHexString(part.length) + "\r\n").getBytes(StandardCharsets.US_ASCII));
                        }
                        count(course, half);
                        wire.send(half);
                        throw new BrokenException(false);
                    }
                    return part;
                }
                case BROKEN_JSON -> {
                    return isHere ? halfOfEvent(part) : part;
                }
                case BROKEN_SSE -> {
                    // One line end instead of two: the next event's line belongs to the same event.
                    return isHere ? ascii(text(part).replaceFirst("\n\n", "\n")) : part;
                }
                case NO_DONE -> {
                    return ascii(text(part).replaceFirst("data: \\[DONE]\\s*", ""));
                }
                default -> {
                    return part;
                }
            }
        }

        /** A part may have several events: the last one with JSON is cut in its middle, so that none is lost unseen. */
        private static byte[] halfOfEvent(byte[] part) {
            String text = text(part);
            int begin = Math.max(0, text.lastIndexOf("data: {"));
            int end = text.indexOf("\n\n", begin);
            int middle = (begin + (end < 0 ? text.length() : end + 2)) / 2;
            return ascii(text.substring(0, middle) + "\n\n");
        }

        private static String text(byte[] part) {
            return new String(part, StandardCharsets.ISO_8859_1);
        }

        private static byte[] ascii(String text) {
            return text.getBytes(StandardCharsets.ISO_8859_1);
        }

        private void send(byte[] part, Course course) throws IOException {
            // Before the gateway can have it, so that what follows from it comes later.
            count(course, part);
            if (isChunked) {
                var framed = new ByteArrayOutputStream(part.length + 12);
                framed.writeBytes((Integer.toHexString(part.length) + "\r\n").getBytes(StandardCharsets.US_ASCII));
                framed.writeBytes(part);
                framed.writeBytes("\r\n".getBytes(StandardCharsets.US_ASCII));
                wire.send(framed.toByteArray());
            } else {
                wire.send(part);
            }
        }
    }
}
