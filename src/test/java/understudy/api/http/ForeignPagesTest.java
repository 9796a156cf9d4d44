package understudy.api.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.api.ServerFixture;
import understudy.api.WarmCluster;

/** Requests as web pages have browsers send them, by hand since the Java client does not let all of these headers be set. */
final class ForeignPagesTest {
    private static final String EVIL = "Origin: https://evil.example";
    private static final String JSON = "Content-Type: application/json";

    @AutoClose
    private final ServerFixture server = new ServerFixture();

    @Test
    void foreignPages_changeAndReadNothing() {
        var cluster = WarmCluster.start(server);

        refused(send("POST /admin/replicas/1/crash", own(), EVIL));
        refused(sendBody(
                "POST /admin/faults", "{\"do\":\"crash\",\"replica\":1}", own(), EVIL, "Content-Type: text/plain"));
        refused(sendBody("POST /admin/faults", "{\"do\":\"crash\",\"replica\":1}", own(), EVIL, JSON));
        refused(send("POST /admin/clock/pause", own(), "Origin: null"));
        refused(send("POST /admin/clock/pause", own(), "Sec-Fetch-Site: same-site"));
        refused(send("POST /admin/clock/pause", own(), "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"));
        refused(send("POST /admin/replicas", own(), "Origin: http://localhost:1"));
        refused(send("POST /reset_prefix_cache", own(), EVIL));
        refused(send("GET /live/events", own(), EVIL));
        refused(send("GET /admin/status", own(), EVIL));

        cluster.hasNotChanged();
    }

    @Test
    void namesOfOthers_changeAndReadNothing() {
        var cluster = WarmCluster.start(server);
        String rebound = "Host: evil.example:" + port();
        String origin = "Origin: http://evil.example:" + port();

        refused(send("POST /admin/clock/pause", rebound));
        refused(send("POST /admin/clock/pause", rebound, origin, "Sec-Fetch-Site: same-origin"));
        refused(send("POST /admin/replicas/1/crash", "Host: localhost.evil.example"));
        refused(send("POST /reset_prefix_cache", rebound));
        assertThat(send("GET /live/events", rebound)).contains("server.allowed-hosts");
        refused(send("GET /admin/status", rebound));

        cluster.hasNotChanged();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/admin/clock/pause", "/admin", "/live/events", "/live", "/reset_prefix_cache"})
    void preflights_areRefused(String path) {
        server.start();

        refused(send("OPTIONS " + path, own(), EVIL, "Access-Control-Request-Method: POST"));
        refused(send("OPTIONS " + path, own(), "Origin: " + server.url(), "Access-Control-Request-Method: POST"));
        refused(send("OPTIONS " + path, own(), "Access-Control-Request-Method: POST"));
    }

    @Test
    void ownPage_andProgramsGetThroughWithoutCorsHeaders() {
        server.start();
        String origin = "Origin: " + server.url();

        taken(send("POST /admin/clock/step", own()));
        taken(send("POST /admin/clock/step", own(), origin, "Sec-Fetch-Site: same-origin"));
        taken(send("GET /admin/status", "Host: localhost"));
        taken(send("GET /admin/status", "Host: [::1]:1", "Sec-Fetch-Site: none"));
        taken(send("POST /reset_prefix_cache", own(), origin));
        assertThat(send("GET /admin/none", own(), origin))
                .startsWith("HTTP/1.1 404")
                .doesNotContain("Access-Control");
    }

    @Test
    void missingHost_isRefused() {
        server.start();

        assertThat(exchange("GET /admin/status HTTP/1.0\r\n\r\n")).startsWith("HTTP/1.1 40");
        assertThat(exchange("GET /admin/status HTTP/1.0\r\nHost: localhost\r\n\r\n"))
                .startsWith("HTTP/1.1 200");
    }

    @Test
    void allowedHosts_areLetThrough() {
        server.moreSettings = "server.allowed-hosts = \"my-box, My-Box.example\"";
        server.start();

        taken(send("GET /admin/status", "Host: my-box:8000"));
        taken(send("POST /reset_prefix_cache", "Host: my-box.example", "Origin: http://my-box.example"));
        refused(send("GET /admin/status", "Host: my-box.example.evil"));
    }

    @Test
    void allowedHosts_areNames() {
        server.moreSettings = "server.allowed-hosts = \"my-box:8000\"";

        assertThatThrownBy(server::start)
                .hasMessageContaining("server.allowed-hosts is \"my-box:8000\", must be host names without ports");
    }

    @Test
    void token_makesAnyHostFineButNoForeignPage() {
        server.adminToken = "secret";
        var cluster = WarmCluster.start(server);
        String bearer = "Authorization: Bearer secret";

        taken(send("GET /admin/status", "Host: cluster.example", bearer));
        taken(send("GET /admin/status", "Host: cluster.example", bearer, "Origin: http://cluster.example"));
        assertThat(send("GET /admin/status", own())).startsWith("HTTP/1.1 401").doesNotContain("Access-Control");
        refused(send("POST /admin/clock/pause", own(), bearer, EVIL));
        refused(send("POST /admin/clock/pause", own(), EVIL));
        refused(send("POST /reset_prefix_cache", own(), EVIL));
        cluster.hasNotChanged();
        taken(send("POST /reset_prefix_cache", "Host: cluster.example"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "//admin/clock/pause",
                "///admin/clock/pause",
                "//x/admin/clock/pause",
                "/%61dmin/clock/pause",
                "/%61%64%6D%69%6E/clock/pause",
                "/admin%2fclock/pause",
                "/admin%2Fclock%2Fpause",
                "/%2fadmin/clock/pause",
                "/./admin/clock/pause",
                "/%2e/admin/clock/pause",
                "/x/../admin/clock/pause",
                "/x/%2e%2e/admin/clock/pause",
                "/v1/..%2fadmin/clock/pause",
                "/v1/../admin/clock/pause",
                "/admin/%2e/clock/pause",
                "/admin//clock/pause",
                "/admin;x=y/clock/pause",
                "/ADMIN/clock/pause",
                "/admin/clock/pause?x=/v1/",
                "/admin/clock/pause/",
                "/admin\\clock/pause",
                "/%c0%aeadmin/clock/pause",
                "/%00admin/clock/pause",
                "admin/clock/pause",
                "http://localhost/admin/clock/pause",
                "http://evil.example/admin/clock/pause",
                "/reset%5Fprefix_cache",
                "//reset_prefix_cache",
                "/x/../reset_prefix_cache"
            })
    void otherSpellingsOfAPath_areNoWayIn(String path) {
        var cluster = WarmCluster.start(server);

        assertThat(send("POST " + path, own(), EVIL)).startsWith("HTTP/1.1 4");
        assertThat(send("POST " + path, "Host: evil.example")).startsWith("HTTP/1.1 4");

        cluster.hasNotChanged();
    }

    @ParameterizedTest
    @CsvSource({
        "/admin/status, 401",
        "/%61dmin/status, 401",
        "/./admin/status, 401",
        "/x/../admin/status, 401",
        "//admin/status, 401",
        "/admin%2fstatus, 404",
        "/v1/models, 401",
        "/%761/models, 401",
        "/v%31/models, 401",
        "/./v1/models, 401",
        "/x/%2e%2e/v1/models, 401",
        "//v1/models, 401",
        "/v1%2fmodels, 404",
        "/x%2f../v1/models, 404"
    })
    void keys_areAskedForHoweverAPathIsSpelled(String path, int status) {
        server.apiKey = "secret";
        server.adminToken = "secret";
        server.start();

        assertThat(send("GET " + path, own())).startsWith("HTTP/1.1 " + status);
    }

    @Test
    void faultHeaders_areNotForForeignPages() {
        server.start();
        String body = "{\"prompt\": \"x\", \"max_tokens\": 1}";
        String fault = "X-Understudy-Delay: 1ms";

        String preflight = send(
                "OPTIONS /v1/completions",
                own(),
                EVIL,
                "Access-Control-Request-Method: POST",
                "Access-Control-Request-Headers: content-type, X-Understudy-Delay,x-understudy-fail,authorization");
        String foreign = sendBody("POST /v1/completions", body, own(), JSON, EVIL, fault);

        assertThat(preflight)
                .startsWith("HTTP/1.1 200")
                .contains("Access-Control-Allow-Headers: content-type, authorization\r\n");
        assertThat(foreign).startsWith("HTTP/1.1 403").contains("\"type\":\"ForbiddenError\"");
        assertThat(sendBody("POST /v1/completions", body, "Host: any.example", JSON, fault))
                .startsWith("HTTP/1.1 200");
        assertThat(sendBody("POST /v1/completions", body, own(), JSON, fault, "Origin: " + server.url()))
                .startsWith("HTTP/1.1 200");
        assertThat(sendBody("POST /v1/completions", body, "Host: any.example", JSON, EVIL))
                .startsWith("HTTP/1.1 200")
                .contains("Access-Control-Allow-Origin: *");
    }

    @Test
    void preflightForFaultHeadersOnly_allowsNone() {
        server.start();

        assertThat(send(
                        "OPTIONS /v1/completions",
                        own(),
                        EVIL,
                        "Access-Control-Request-Method: POST",
                        "Access-Control-Request-Headers: x-understudy-fail"))
                .startsWith("HTTP/1.1 200")
                .doesNotContain("Access-Control-Allow-Headers");
    }

    private static void refused(String answer) {
        assertThat(answer)
                .startsWith("HTTP/1.1 403")
                .contains("\"type\":\"ForbiddenError\",\"param\":null,\"code\":403");
        assertThat(answer.toLowerCase(Locale.ROOT)).doesNotContain("access-control");
    }

    private static void taken(String answer) {
        assertThat(answer).startsWith("HTTP/1.1 200");
        assertThat(answer.toLowerCase(Locale.ROOT)).doesNotContain("access-control");
    }

    private int port() {
        return server.server().address().getPort();
    }

    private String own() {
        return "Host: 127.0.0.1:" + port();
    }

    private String send(String request, String... headers) {
        return sendBody(request, "", headers);
    }

    private String sendBody(String request, String body, String... headers) {
        return exchange(request + " HTTP/1.1\r\n" + String.join("\r\n", headers)
                + "\r\nConnection: close\r\nContent-Length: " + body.length() + "\r\n\r\n" + body);
    }

    private String exchange(String request) {
        try (var socket = new Socket(InetAddress.getLoopbackAddress(), port())) {
            // Events that are let through would not end.
            socket.setSoTimeout(20_000);
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
