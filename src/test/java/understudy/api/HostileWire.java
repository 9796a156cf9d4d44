package understudy.api;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.apache.commons.rng.UniformRandomProvider;
import org.apache.pekko.util.ByteString;

/** Requests that are wrong as HTTP: lines, headers, framing and encoding. Their bodies are harmless. */
final class HostileWire {
    private static final String PATH = "/v1/completions";
    private static final String BODY = "{\"prompt\": \"x\", \"max_tokens\": 2}";
    private static final String JSON = "Content-Type: application/json";
    private static final String HEAD =
            "POST " + PATH + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n" + JSON + "\r\n";
    private static final List<String> METHODS = List.of(
            "FOO",
            "get",
            "TRACE",
            "CONNECT",
            "PROPFIND",
            "DELETE",
            "PUT",
            "OPTIONS",
            "G@T",
            "G\u0000T",
            "X".repeat(300));
    private static final List<String> VERSIONS = List.of(
            "HTTP/1.0",
            "HTTP/0.9",
            "HTTP/1.2",
            "HTTP/2.0",
            "HTTP/9.9",
            "HTTP/1.1.1",
            "HTTP/x",
            "http/1.1",
            "HTTPS/1.1",
            "");
    private static final List<String> FIRST_LINES = List.of(
            "GET /health",
            "PRI * HTTP/2.0\r\n\r\nSM",
            "GET  /health  HTTP/1.1",
            " GET /health HTTP/1.1",
            "GET /hea lth HTTP/1.1",
            "GET health HTTP/1.1",
            "GET http:// HTTP/1.1",
            "GET /\u00ff\u00fe HTTP/1.1",
            "GET /health\tHTTP/1.1",
            "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003",
            "HTTP/1.1 200 OK",
            "*1\r\n$4\r\nPING");
    private static final List<String> PATHS = List.of(
            "/v1/models/",
            "/health/",
            "//health",
            "//v1//models",
            "/v1/./models",
            "/v1/../health",
            "/../../../etc/passwd",
            "/page/../../../etc/passwd",
            "/page/%2e%2e/%2e%2e/etc/passwd",
            "/page/..%2f..%2fHttpServer.class",
            "/page/%2e%2e%5c%2e%2e%5capp.js",
            "/page/app.js%00.html",
            "/%61dmin/status",
            "/v1%2Fmodels",
            "/%zz",
            "/%",
            "/%ff%fe",
            "/%00",
            "/health;a=b",
            "/health?a=%zz",
            "/health#x",
            "/?" + "a=b&".repeat(300),
            "/" + "a/".repeat(900),
            "/" + "x".repeat(100_000),
            "http://127.0.0.1/health",
            "http://[::1/health",
            "*");
    private static final List<String> LENGTHS =
            List.of("-1", "+5", "5, 5", "abc", "0x10", "99999999999999999999", "9223372036854775807", "2147483648", "");
    private static final List<String> CHUNKS = List.of(
            "zz\r\nabc\r\n0\r\n\r\n",
            "-5\r\nabcde\r\n0\r\n\r\n",
            "ffffffffffffffffff\r\nabc\r\n0\r\n\r\n",
            "7fffffffffffffff\r\nabc\r\n0\r\n\r\n",
            "3\r\nabcXX0\r\n\r\n",
            "\r\n\r\n",
            " 3\r\nabc\r\n0\r\n\r\n",
            "3;" + "x".repeat(20_000) + "\r\nabc\r\n0\r\n\r\n",
            "0\r\n" + "X-Trailer: " + "y".repeat(20_000) + "\r\n\r\n",
            "0\r\nContent-Length: 5\r\n\r\n");
    private static final List<String> HEADERS = List.of(
            "Host: 127.0.0.1",
            "Host: a b",
            "Host: " + "h".repeat(5000),
            "No colon",
            ": no name",
            "Bad Name: x",
            "X-\u0000: x",
            "X: \u0000\u0001",
            "X: \u00ff\u00fe",
            "X: a\r\n folded",
            "Expect: 100-continue",
            "Expect: 200-maybe",
            "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: x",
            "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__",
            "Content-Type: application/json; charset=utf-16",
            "Content-Type: \u0000",
            "Content-Type: text/plain",
            "Content-Encoding: br",
            "Content-Encoding: gzip, gzip, gzip",
            "Accept: nonsense/",
            "Accept-Encoding: gzip;q=x",
            "Authorization: Bearer " + "k".repeat(7000),
            "Origin: \u0007",
            "Range: bytes=0-0,1-1,2-",
            "X-Request-Id: " + "i".repeat(7000),
            "X-Request-Id: a\u00e9\u4e2d",
            "Cookie: " + "a=b; ".repeat(4000),
            "Transfer-Encoding: gzip, chunked",
            "Transfer-Encoding: identity",
            "traceparent: 00-x-y-z");
    private static final List<String> FAULTS = List.of(
            "X-Understudy-Fail: false",
            "X-Understudy-Fail: maybe",
            "X-Understudy-Fail:",
            "X-Understudy-Cut-After-Tokens: 0",
            "X-Understudy-Cut-After-Tokens: -1",
            "X-Understudy-Cut-After-Tokens: 1e3",
            "X-Understudy-Cut-After-Tokens: 99999999999",
            "X-Understudy-Malformed-At-Token: NaN",
            "X-Understudy-Malformed-At-Token: 2",
            "X-Understudy-Malformed-At-Token: 2147483648",
            "X-Understudy-Delay: -1",
            "X-Understudy-Delay: NaN",
            "X-Understudy-Delay: 1e400s",
            "X-Understudy-Delay: 1",
            "X-Understudy-Delay: 1ms",
            "X-Understudy-Delay: 1 fortnight",
            "X-Understudy-Delay: 0.0000000000000000000000001ns",
            "X-Understudy-Delay: 1ms\r\nX-Understudy-Delay: 2ms",
            "X-Understudy-Nonsense: 1");

    /** Delays that no clock can hold. */
    private static final List<String> OVERFLOWS = List.of(
            "X-Understudy-Delay: 99999999999h",
            "X-Understudy-Delay: 9999999h",
            "X-Understudy-Delay: 2562048h",
            "X-Understudy-Delay: 2562047h",
            "X-Understudy-Delay: " + "9".repeat(400) + "s");

    private final UniformRandomProvider random;

    HostileWire(UniformRandomProvider random) {
        this.random = random;
    }

    HostileRequest next() {
        return switch (random.nextInt(14)) {
            case 0 -> whole(pick(METHODS) + " " + PATH + " HTTP/1.1").allowing(501);
            case 1 -> whole("POST " + PATH + " " + pick(VERSIONS)).allowing(505);
            case 2 -> HostileRequest.raw(pick(FIRST_LINES) + "\r\n\r\n").allowing(501, 505);
            case 3 -> HostileRequest.get(pick(PATHS));
            case 4 -> whole("POST " + pick(PATHS) + " HTTP/1.1");
            case 5, 6 -> withHeader(pick(HEADERS));
            case 7 -> bomb();
            case 8 -> twoFramings();
            case 9 -> HostileRequest.raw(HEAD + "Content-Length: " + pick(LENGTHS) + "\r\n\r\n" + BODY);
            case 10 -> HostileRequest.raw(HEAD + "Transfer-Encoding: chunked\r\n\r\n" + pick(CHUNKS));
            case 11 -> packed();
            case 12 ->
                HostileRequest.post(PATH, BODY, "X-Understudy-Fail: true").allowing(500);
            default -> withHeader(pick(FAULTS));
        };
    }

    HostileRequest overflow() {
        return withHeader(pick(OVERFLOWS));
    }

    private static HostileRequest whole(String firstLine) {
        return HostileRequest.ofParts(
                firstLine, List.of("Content-Length: " + BODY.length()), ByteString.fromString(BODY));
    }

    private static HostileRequest withHeader(String header) {
        return HostileRequest.post(PATH, BODY, header);
    }

    private HostileRequest bomb() {
        String line = random.nextBoolean() ? "X-%d: y" : "X-%d: " + "y".repeat(1000);
        int numLines = 1 + random.nextInt(400);
        var lines = new String[numLines];
        for (int i = 0; i < numLines; i++) {
            lines[i] = line.formatted(i);
        }
        return HostileRequest.post(PATH, BODY, lines);
    }

    /** Two ways to say how long a body is, which is how requests are smuggled. */
    private HostileRequest twoFramings() {
        String chunked = "Transfer-Encoding: chunked\r\n";
        String length = "Content-Length: " + BODY.length() + "\r\n";
        String end = "\r\n" + BODY;
        return HostileRequest.raw(HEAD
                + switch (random.nextInt(4)) {
                    case 0 -> length + chunked + end;
                    case 1 -> chunked + length + "\r\n0\r\n\r\n";
                    case 2 -> length + "Content-Length: 1\r\n" + end;
                    default -> chunked + chunked + "\r\n0\r\n\r\n";
                });
    }

    /** Bodies that are packed: well, badly, cut off, or too large once they are unpacked. */
    private HostileRequest packed() {
        byte[] body = BODY.getBytes(StandardCharsets.UTF_8);
        byte[] packed = gzip(random.nextInt(3) == 0 ? new byte[1 << 21] : body);
        byte[] sent = switch (random.nextInt(4)) {
            case 0 -> Arrays.copyOf(packed, random.nextInt(packed.length));
            case 1 -> body;
            case 2 -> broken(packed);
            default -> packed;
        };
        return HostileRequest.post(
                PATH,
                ByteString.fromArrayUnsafe(sent),
                JSON,
                "Content-Encoding: " + pick(List.of("gzip", "deflate", "GZIP", "x")));
    }

    private byte[] broken(byte[] packed) {
        byte[] broken = packed.clone();
        broken[random.nextInt(broken.length)] ^= (byte) 0x55;
        return broken;
    }

    private static byte[] gzip(byte[] plain) {
        var packed = new ByteArrayOutputStream();
        try (var stream = new GZIPOutputStream(packed)) {
            stream.write(plain);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return packed.toByteArray();
    }

    private <T> T pick(List<T> list) {
        return list.get(random.nextInt(list.size()));
    }
}
