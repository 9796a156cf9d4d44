package understudy.api;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.pekko.util.ByteString;

/**
 * What goes over a connection, byte for byte, and what may be answered.
 *
 * @param numAnswers how many answers must come, or {@link #ANY} if the client goes away first
 * @param serverErrors statuses from 500 that may come nevertheless
 */
record HostileRequest(ByteString bytes, int numAnswers, Set<Integer> serverErrors) {
    /** The client does not wait for answers. */
    static final int ANY = -1;

    private static final Set<Integer> NONE = Set.of();
    private static final String HOST = "Host: 127.0.0.1\r\n";
    private static final String CLOSE = "Connection: close\r\n";

    static HostileRequest post(String path, ByteString body, String... headers) {
        var lines = new ArrayList<>(List.of(headers));
        lines.add("Content-Length: " + body.length());
        return ofParts("POST " + path + " HTTP/1.1", lines, body);
    }

    static HostileRequest post(String path, String body, String... headers) {
        return post(path, ByteString.fromString(body), headers);
    }

    static HostileRequest get(String path) {
        return ofParts("GET " + path + " HTTP/1.1", List.of(), ByteString.emptyByteString());
    }

    /** A request whose connection is closed behind its answer, and whose head is whatever it is told to be. */
    static HostileRequest ofParts(String firstLine, List<String> headers, ByteString body) {
        var head = new StringBuilder(firstLine).append("\r\n").append(HOST).append(CLOSE);
        boolean hasType = headers.stream().anyMatch(header -> header.startsWith("Content-Type:"));
        if (!body.isEmpty() && !hasType) {
            head.append("Content-Type: application/json\r\n");
        }
        headers.forEach(header -> head.append(header).append("\r\n"));
        return raw(head + "\r\n").with(body);
    }

    /** Bytes that are hardly HTTP any more, one for each character; the server closes the connection by itself. */
    static HostileRequest raw(String text) {
        return new HostileRequest(ByteString.fromString(text, StandardCharsets.ISO_8859_1), 1, NONE);
    }

    private HostileRequest with(ByteString body) {
        return new HostileRequest(bytes.concat(body), numAnswers, serverErrors);
    }

    HostileRequest allowing(Integer... statuses) {
        return new HostileRequest(bytes, numAnswers, Set.of(statuses));
    }

    /** Returns the same request by a client that goes away after a number of bytes. */
    HostileRequest vanishingAfter(int numBytes) {
        return new HostileRequest(bytes.take(numBytes), ANY, serverErrors);
    }

    /** Returns requests that are sent at once, without a wait for the answers between; only the last one closes. */
    static HostileRequest pipelined(List<HostileRequest> requests) {
        var all = ByteString.emptyByteString();
        var allowed = new TreeSet<Integer>();
        int numLeft = requests.size();
        for (var request : requests) {
            all = all.concat(--numLeft == 0 ? request.bytes : request.keepingAlive());
            allowed.addAll(request.serverErrors);
        }
        return new HostileRequest(all, requests.size(), allowed);
    }

    private ByteString keepingAlive() {
        return ByteString.fromString(text().replaceFirst(CLOSE, ""), StandardCharsets.ISO_8859_1);
    }

    private String text() {
        return bytes.decodeString(StandardCharsets.ISO_8859_1);
    }

    /** Returns the beginning of what is sent. */
    @Override
    public String toString() {
        return bytes.length() + " bytes: " + text().substring(0, Math.min(1500, bytes.length()));
    }
}
