package understudy.chaos.proxy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import understudy.chaos.evidence.Attempt.Ending;
import understudy.chaos.proxy.ReplicaFault.Kind;
import understudy.chaos.wire.BodyParts;
import understudy.chaos.wire.HttpHead;
import understudy.chaos.wire.Wire;

/** A connection of the gateway to a replica, and one request after the other on it. */
final class ReplicaConnection {
    private static final int MAX_BODY_BYTES = 1 << 24;
    private static final int CONNECT_MILLIS = 2000;
    private static final Pattern CALL_ID = Pattern.compile("call-\\d+");
    private static final Pattern OF_ADAPTER = Pattern.compile("\"model\"\\s*:\\s*\"" + ProbeText.ADAPTER + "\"");
    private static final Duration SKEW = Duration.ofHours(1);

    private final Interposer replica;
    private final Wire wire;
    private final long number;
    private final boolean hasBadCertificate;
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

    /** Of a pair an engine does not answer; its sidecar does. */
    private static final class BadGatewayException extends IOException {
        private static final long serialVersionUID = 1;
    }

    ReplicaConnection(Interposer replica, Wire wire, long number, boolean hasBadCertificate) {
        this.replica = replica;
        this.wire = wire;
        this.number = number;
        this.hasBadCertificate = hasBadCertificate;
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
        try {
            return forward(head, body, Optional.empty(), AttemptCourse.UNRECORDED, ProbeText.rewriteOf(path, replica));
        } catch (BadGatewayException e) {
            return badGateway(head, AttemptCourse.UNRECORDED);
        }
    }

    private boolean has(Kind kind) {
        return replica.fault(kind).isPresent();
    }

    // ---- generations ----

    private boolean generate(HttpHead head, byte[] body, String callId, int numBefore) throws IOException {
        var log = replica.log();
        var course = AttemptCourse.begin(log, callId, replica.name(), number, hasBadCertificate);
        try {
            boolean isKept = generate(head, body, numBefore, course);
            course.ended(log.nowNanos());
            return isKept;
        } catch (IOException e) {
            boolean isBroken = e instanceof BrokenException || (isKilled && !(e instanceof LeftException));
            course.brokenOff(isBroken ? Ending.BROKEN_BY_FAULT : Ending.LEFT_BY_GATEWAY, log.nowNanos());
            throw e;
        }
    }

    private boolean generate(HttpHead head, byte[] body, int numBefore, AttemptCourse course) throws IOException {
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
            String error = "{\"error\":{\"message\":\"The model `" + ProbeText.ADAPTER + "` does not exist.\","
                    + "\"type\":\"NotFoundError\",\"param\":\"model\",\"code\":404}}";
            course.answered(404, OptionalLong.empty());
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
        var leg = replica.prefill();
        try {
            return forward(head, leg == null ? body : prefilled(leg, head, body), fault, course, null);
        } catch (BadGatewayException e) {
            return badGateway(head, course);
        }
    }

    private byte[] prefilled(PrefillLeg leg, HttpHead head, byte[] body) throws IOException {
        try {
            return leg.prefilled(head, body, this::checkNotLeft);
        } catch (LeftException | BrokenException e) {
            throw e;
        } catch (IOException e) {
            throw new BadGatewayException();
        }
    }

    private boolean refuse(HttpHead head, ReplicaFault fault, AttemptCourse course) throws IOException {
        String error = String.format(
                Locale.ROOT,
                "{\"error\":{\"message\":\"the replica takes no requests\",\"type\":\"ServiceUnavailable\","
                        + "\"param\":null,\"code\":%d}}",
                fault.status());
        var wait = fault.retryAfterSeconds() > 0 ? OptionalLong.of(fault.retryAfterSeconds()) : OptionalLong.empty();
        course.answered(fault.status(), wait);
        return answer(head, fault.status(), "application/json", error, fault.retryAfterSeconds());
    }

    private boolean badGateway(HttpHead head, AttemptCourse course) throws IOException {
        course.answered(502, OptionalLong.empty());
        return answer(head, 502, "text/plain", "", 0);
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
            case 502 -> "Bad Gateway";
            case 503 -> "Service Unavailable";
            default -> "Status";
        };
    }

    // ---- forwarding ----

    private boolean forward(
            HttpHead head,
            byte[] body,
            Optional<ReplicaFault> fault,
            AttemptCourse course,
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
            var breaker = new BodyBreaker(fault, isStream, parts.isChunked());
            course.answered(answer.status(), retryAfterSeconds(answer));
            if (rewrite != null || breaker.breaksWhole()) {
                byte[] whole = whole(parts);
                course.passed(whole, replica.log().nowNanos());
                byte[] changed = rewrite != null
                        ? rewrite.apply(new String(whole, StandardCharsets.UTF_8))
                                .getBytes(StandardCharsets.UTF_8)
                        : BodyBreaker.half(whole);
                wire.send(answer.without("Transfer-Encoding")
                        .with("Content-Length", String.valueOf(changed.length))
                        .bytes());
                wire.send(changed);
            } else {
                wire.send(answer.bytes());
                pass(parts, breaker, course);
            }
            return isKept;
        } finally {
            upstream = null;
        }
    }

    private Wire connect() throws IOException {
        try {
            return Wire.connect(replica.engine(), CONNECT_MILLIS);
        } catch (IOException e) {
            throw dead();
        }
    }

    /** With its engine a replica has died, unless a sidecar stands before it. */
    private IOException dead() {
        return replica.prefill() == null ? new BrokenException(true) : new BadGatewayException();
    }

    private HttpHead engineHead(Wire engine) throws IOException {
        try {
            return Objects.requireNonNullElseGet(
                    HttpHead.read(engine, this::checkNotLeft), () -> new HttpHead("", List.of()));
        } catch (LeftException | BrokenException e) {
            throw e;
        } catch (IOException e) {
            throw dead();
        }
    }

    private static OptionalLong retryAfterSeconds(HttpHead answer) {
        return answer.header("Retry-After")
                .filter(each -> each.matches("\\d{1,9}"))
                .map(each -> OptionalLong.of(Long.parseLong(each)))
                .orElse(OptionalLong.empty());
    }

    private void pass(BodyParts parts, BodyBreaker breaker, AttemptCourse course) throws IOException {
        for (byte[] part = next(parts); part.length > 0; part = next(parts)) {
            if (breaker.delayMillis() > 0) {
                replica.pause(breaker.delayMillis());
                checkNotLeft();
            }
            var passage = breaker.next(part);
            if (passage.body().length > 0) {
                // Before the gateway can have it, so that what follows from it comes later.
                course.passed(passage.body(), replica.log().nowNanos());
            }
            wire.send(passage.framed());
            switch (passage.then()) {
                case GO_ON -> {}
                case CLOSE -> throw new BrokenException(false);
                case RESET -> throw new BrokenException(true);
                case HANG -> hang();
            }
        }
        wire.send(breaker.end());
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
}
