package understudy.chaos.load;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.OptionalLong;
import understudy.chaos.evidence.ClientCall;
import understudy.chaos.evidence.ClientCall.Ending;
import understudy.chaos.evidence.ClientCallBuilder;
import understudy.chaos.wire.BodyParts;
import understudy.chaos.wire.HttpHead;
import understudy.chaos.wire.MalformedBodyException;
import understudy.chaos.wire.Wire;
import understudy.json.Jackson;
import understudy.runtime.Stopwatch;

/** Sends one call through the gateway, and notes what comes back. Used by one thread. */
final class Caller {
    private static final int MAX_CONNECT_MILLIS = 2000;
    private static final String DATA = "data:";

    private final URI gateway;
    private final Stopwatch stopwatch;
    private final CallPlan plan;
    private final long deadlineNanos;
    private final ClientCallBuilder call;
    private final StringBuilder text = new StringBuilder();

    /** The client has waited as long as it does. */
    private static final class PatienceException extends IOException {
        private static final long serialVersionUID = 1;
    }

    /** The client leaves, as the scenario wants it. */
    private static final class LeavesException extends IOException {
        private static final long serialVersionUID = 1;
    }

    /** The gateway tells of an error within the stream. */
    private static final class ErrorEventException extends IOException {
        private static final long serialVersionUID = 1;

        ErrorEventException(String message) {
            super(message);
        }
    }

    Caller(URI gateway, Stopwatch stopwatch, CallPlan plan, long patienceNanos) {
        this.gateway = gateway;
        this.stopwatch = stopwatch;
        this.plan = plan;
        long nowNanos = stopwatch.nanos();
        deadlineNanos = nowNanos + patienceNanos;
        call = ClientCallBuilder.builder()
                .id(plan.id())
                .session(plan.session())
                .tenant(plan.tenant())
                .isStreamed(plan.isStreamed())
                .sentNanos(nowNanos)
                .headNanos(-1)
                .firstTokenNanos(-1)
                .retryAfterSeconds(OptionalLong.empty())
                .expected(plan.expected())
                .received(List.of())
                .error("");
    }

    /** Sends the call, and returns it when it has ended. */
    ClientCall call() {
        Ending ending;
        String error = "";
        try {
            ending = exchange();
        } catch (PatienceException e) {
            ending = Ending.TIMED_OUT;
        } catch (LeavesException e) {
            ending = Ending.LEFT_BY_CLIENT;
        } catch (ErrorEventException e) {
            ending = Ending.ERROR_EVENT;
            error = String.valueOf(e.getMessage());
        } catch (MalformedBodyException | JacksonException e) {
            ending = Ending.MALFORMED;
            error = firstLine(e);
        } catch (ConnectException | SocketTimeoutException e) {
            ending = Ending.UNREACHABLE;
            error = firstLine(e);
        } catch (IOException e) {
            ending = Ending.CUT;
            error = firstLine(e);
        }
        if (ending != Ending.REFUSED || !error.isEmpty()) {
            call.error(error);
        }
        return call.endNanos(stopwatch.nanos())
                .ending(ending)
                .received(words(ending == Ending.COMPLETED))
                .build();
    }

    private static String firstLine(IOException failure) {
        return String.valueOf(failure.getMessage()).lines().findFirst().orElse("");
    }

    /** Returns the words that came; of an answer that broke off, without a last one that may not be whole. */
    private List<String> words(boolean isWhole) {
        String all = isWhole ? text.toString() : text.substring(0, text.lastIndexOf(" ") + 1);
        return all.isBlank() ? List.of() : List.of(all.strip().split("\\s+"));
    }

    private void checkPatience() throws IOException {
        if (stopwatch.nanos() > deadlineNanos) {
            throw new PatienceException();
        }
    }

    private Ending exchange() throws IOException {
        var address = new InetSocketAddress(gateway.getHost(), gateway.getPort());
        try (var wire = Wire.connect(address, MAX_CONNECT_MILLIS)) {
            send(wire);
            var head = HttpHead.read(wire, this::checkPatience);
            while (head != null && head.status() / 100 == 1) {
                head = HttpHead.read(wire, this::checkPatience);
            }
            if (head == null) {
                throw new EOFException("the connection ended before the head of the response");
            }
            if (head.status() == 0) {
                throw new MalformedBodyException("the response begins with \"" + head.line() + "\"");
            }
            call.headNanos(stopwatch.nanos()).status(head.status());
            head.header("Retry-After")
                    .filter(wait -> wait.matches("\\d{1,9}"))
                    .ifPresent(wait -> call.retryAfterSeconds(OptionalLong.of(Long.parseLong(wait))));
            var parts = BodyParts.ofResponse(head, "POST", wire);
            if (head.status() / 100 != 2) {
                call.error(errorOf(whole(parts)));
                return Ending.REFUSED;
            }
            return plan.isStreamed() ? readStream(parts) : readWhole(whole(parts));
        }
    }

    private void send(Wire wire) throws IOException {
        byte[] body = plan.body();
        String root = gateway.getRawPath() == null ? "" : gateway.getRawPath().replaceFirst("/$", "");
        String head = "POST " + root + "/v1/chat/completions HTTP/1.1\r\nHost: " + gateway.getAuthority()
                + "\r\nContent-Type: application/json\r\nAccept: */*\r\nX-Request-Id: " + plan.id()
                + "\r\nX-Session-Id: " + plan.session() + "\r\nX-Tenant-Id: " + plan.tenant()
                + "\r\nContent-Length: " + body.length + "\r\n\r\n";
        wire.send(head.getBytes(StandardCharsets.US_ASCII));
        wire.send(body);
    }

    private String whole(BodyParts parts) throws IOException {
        var all = new ByteArrayOutputStream();
        for (byte[] part = parts.next(this::checkPatience); part.length > 0; part = parts.next(this::checkPatience)) {
            all.write(part);
        }
        return all.toString(StandardCharsets.UTF_8);
    }

    private static String errorOf(String body) {
        return body.lines().findFirst().orElse("");
    }

    private Ending readWhole(String body) throws IOException {
        var root = parse(body);
        text.append(root.path("choices").path(0).path("message").path("content").asText(""));
        if (text.length() == 0) {
            throw new MalformedBodyException("the answer has no text");
        }
        call.firstTokenNanos(stopwatch.nanos());
        return Ending.COMPLETED;
    }

    private static JsonNode parse(String json) throws IOException {
        return Jackson.readerOfWholeTexts().readTree(json);
    }

    /** Reads events of lines; each ends with an empty line. */
    private Ending readStream(BodyParts parts) throws IOException {
        var buffer = new StringBuilder();
        boolean isDone = false;
        for (byte[] part = parts.next(this::checkPatience); part.length > 0; part = parts.next(this::checkPatience)) {
            // All text is ASCII, so that no character is cut by the end of a part.
            buffer.append(new String(part, StandardCharsets.UTF_8).replace("\r", ""));
            for (int end = buffer.indexOf("\n\n"); end >= 0; end = buffer.indexOf("\n\n")) {
                isDone |= onEvent(buffer.substring(0, end));
                buffer.delete(0, end + 2);
            }
        }
        if (!buffer.toString().isBlank()) {
            throw new MalformedBodyException("the stream ends within an event");
        }
        if (!isDone) {
            throw new EOFException("the stream ended without [DONE]");
        }
        return Ending.COMPLETED;
    }

    private boolean onEvent(String event) throws IOException {
        var data = new StringBuilder();
        for (String line : event.split("\n", -1)) {
            if (line.startsWith(DATA)) {
                data.append(data.length() == 0 ? "" : "\n")
                        .append(line.substring(DATA.length()).strip());
            } else if (!line.isBlank() && !line.matches("(:|event:|id:|retry:).*")) {
                throw new MalformedBodyException("the stream has the line \"" + line + "\"");
            }
        }
        String text = data.toString();
        if (text.equals("[DONE]")) {
            return true;
        }
        if (!text.isEmpty()) {
            onData(parse(text));
        }
        return false;
    }

    private void onData(JsonNode root) throws IOException {
        if (root.hasNonNull("error")) {
            throw new ErrorEventException(
                    root.get("error").path("message").asText(root.get("error").toString()));
        }
        String delta =
                root.path("choices").path(0).path("delta").path("content").asText("");
        if (delta.isEmpty()) {
            return;
        }
        if (text.length() == 0) {
            call.firstTokenNanos(stopwatch.nanos());
        }
        text.append(delta);
        if (plan.leaveAfterTokens() > 0 && words(false).size() >= plan.leaveAfterTokens()) {
            throw new LeavesException();
        }
    }
}
