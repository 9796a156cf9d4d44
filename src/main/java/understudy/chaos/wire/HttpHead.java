package understudy.chaos.wire;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * First line and headers of a request or response, as they came.
 *
 * @param line first line
 * @param headers lines of the headers
 */
public record HttpHead(String line, List<String> headers) {
    private static final int MAX_HEADERS = 200;

    public HttpHead {
        headers = List.copyOf(headers);
    }

    /** Returns the next head, or null if the connection ends before one begins. */
    public static @Nullable HttpHead read(Wire wire, Wire.Waiting waiting) throws IOException {
        int first = wire.read(waiting);
        while (first == '\r' || first == '\n') {
            first = wire.read(waiting);
        }
        if (first < 0) {
            return null;
        }
        String line = (char) first + wire.readLine(waiting);
        var headers = new ArrayList<String>();
        for (String header = wire.readLine(waiting); !header.isEmpty(); header = wire.readLine(waiting)) {
            if (headers.size() == MAX_HEADERS) {
                throw new IOException("more than " + MAX_HEADERS + " headers");
            }
            headers.add(header);
        }
        return new HttpHead(line, headers);
    }

    /** Returns the value of a header. */
    public Optional<String> header(String name) {
        String prefix = name.toLowerCase(Locale.ROOT) + ":";
        return headers.stream()
                .filter(header -> header.toLowerCase(Locale.ROOT).startsWith(prefix))
                .map(header -> header.substring(prefix.length()).strip())
                .findFirst();
    }

    /** Returns the head with one value for a header, whatever it had before. */
    public HttpHead with(String name, String value) {
        var others = new ArrayList<>(without(name).headers);
        others.add(name + ": " + value);
        return new HttpHead(line, others);
    }

    /** Returns the head without a header. */
    public HttpHead without(String name) {
        String prefix = name.toLowerCase(Locale.ROOT) + ":";
        return new HttpHead(
                line,
                headers.stream()
                        .filter(header -> !header.toLowerCase(Locale.ROOT).startsWith(prefix))
                        .toList());
    }

    /** Returns the method of a request. */
    public String method() {
        return word(0);
    }

    /** Returns the path of a request, without its query. */
    public String path() {
        String target = word(1);
        int query = target.indexOf('?');
        return query < 0 ? target : target.substring(0, query);
    }

    /** Returns the status of a response, or 0 if it has none. */
    public int status() {
        String word = word(1);
        return word.matches("\\d{3}") ? Integer.parseInt(word) : 0;
    }

    private String word(int index) {
        var words = line.split(" ", -1);
        return index < words.length ? words[index] : "";
    }

    /** Returns whether the sender of this head keeps the connection open behind the message. */
    public boolean keepsConnection() {
        String connection = header("Connection").orElse("").toLowerCase(Locale.ROOT);
        return line.contains("HTTP/1.0") ? connection.contains("keep-alive") : !connection.contains("close");
    }

    /** Returns whether the body comes in chunks. */
    public boolean isChunked() {
        return header("Transfer-Encoding").orElse("").toLowerCase(Locale.ROOT).contains("chunked");
    }

    /**
     * Returns the length of the body in bytes, or -1 if the head does not say it.
     *
     * @throws IOException if it is no number
     */
    public long contentLength() throws IOException {
        String length = header("Content-Length").orElse("-1");
        try {
            return Long.parseLong(length);
        } catch (NumberFormatException e) {
            throw new IOException("Content-Length is " + length, e);
        }
    }

    /** Returns the head as it is sent, with the empty line behind it. */
    public byte[] bytes() {
        var text = new StringBuilder(line).append("\r\n");
        headers.forEach(header -> text.append(header).append("\r\n"));
        return text.append("\r\n").toString().getBytes(StandardCharsets.ISO_8859_1);
    }

    /** Returns the body of a request of this head, which has at most so many bytes. */
    public byte[] readBody(Wire wire, int most, Wire.Waiting waiting) throws IOException {
        var parts = BodyParts.ofRequest(this, wire);
        var all = new ByteArrayOutputStream();
        for (byte[] part = parts.next(waiting); part.length > 0; part = parts.next(waiting)) {
            if (all.size() + part.length > most) {
                throw new EOFException("a body of more than " + most + " bytes");
            }
            all.write(part);
        }
        return all.toByteArray();
    }
}
