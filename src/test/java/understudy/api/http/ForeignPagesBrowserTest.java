package understudy.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.openqa.selenium.chrome.ChromeDriver;
import understudy.api.Chromium;
import understudy.api.ServerFixture;
import understudy.api.WarmCluster;

/** Pages of other origins in a real browser, which try what they can. */
final class ForeignPagesBrowserTest {
    /** Makes, in the browser, one attempt after the other, and tells what came of each. */
    private static final String ATTEMPTS = """
            const [server, done] = arguments;
            const asked = async (path, options) => {
              try {
                const response = await fetch(server + path, options);
                return `${response.type} ${response.status} ${(await response.text()).length > 0 ? 'read' : 'blank'}`;
              } catch (failure) {
                return failure.name;
              }
            };
            const events = () => new Promise((resolve) => {
              const source = new EventSource(server + '/live/events');
              source.addEventListener('history', () => { source.close(); resolve('read'); });
              source.addEventListener('error', () => { source.close(); resolve('error'); });
            });
            const form = () => new Promise((resolve) => {
              const frame = document.createElement('iframe');
              frame.name = 'target';
              document.body.append(frame);
              const form = document.createElement('form');
              form.method = 'post';
              form.action = server + '/admin/replicas/1/crash';
              form.target = 'target';
              document.body.append(form);
              frame.addEventListener('load', () => {
                if (form.dataset.sent) {
                  resolve(frame.contentDocument === null ? 'unreadable' : 'readable');
                }
              });
              form.dataset.sent = 'yes';
              form.submit();
            });
            const crash = JSON.stringify({ do: 'crash', replica: 1 });
            const text = { 'Content-Type': 'text/plain' };
            const json = { 'Content-Type': 'application/json' };
            (async () => done({
              post: await asked('/admin/clock/pause', { method: 'POST' }),
              text: await asked('/admin/faults', { method: 'POST', headers: text, body: crash }),
              json: await asked('/admin/faults', { method: 'POST', headers: json, body: crash }),
              noCors: await asked('/admin/replicas/1/crash', { method: 'POST', mode: 'no-cors' }),
              noCorsText: await asked('/admin/faults', { method: 'POST', mode: 'no-cors', body: crash }),
              reset: await asked('/reset_prefix_cache', { method: 'POST' }),
              resetNoCors: await asked('/reset_prefix_cache', { method: 'POST', mode: 'no-cors' }),
              status: await asked('/admin/status'),
              fault: await asked('/v1/models', { headers: { 'X-Understudy-Fail': 'true' } }),
              models: await asked('/v1/models'),
              events: await events(),
              form: await form(),
            }))();
            """;

    private static final String FETCH = """
            const [path, method, done] = arguments;
            fetch(path, { method }).then((response) => done(response.status), (failure) => done(failure.name));
            """;

    @AutoClose
    private final ServerFixture server = new ServerFixture();

    private final ChromeDriver browser = Chromium.open();

    @BeforeAll
    static void needsBrowser() {
        Chromium.assumeInstalled();
    }

    @ParameterizedTest
    @CsvSource({"127.0.0.1, 127.0.0.1", "localhost, 127.0.0.1", "127.0.0.1, localhost", "evil.example, 127.0.0.1"})
    void foreignPages_changeAndReadNothing(String pageHost, String serverHost) throws IOException {
        var cluster = WarmCluster.start(server);
        int port = server.server().address().getPort();
        var elsewhere = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        serveBlankPages(elsewhere);
        try {
            browser.get("http://" + pageHost + ":" + elsewhere.getAddress().getPort() + "/");

            var outcomes = browser.executeAsyncScript(ATTEMPTS, "http://" + serverHost + ":" + port);

            assertThat(outcomes)
                    .isEqualTo(Map.ofEntries(
                            Map.entry("post", "TypeError"),
                            Map.entry("text", "TypeError"),
                            Map.entry("json", "TypeError"),
                            // Sent without asking for an answer, so the page does not even see that it was refused.
                            Map.entry("noCors", "opaque 0 blank"),
                            Map.entry("noCorsText", "opaque 0 blank"),
                            Map.entry("reset", "TypeError"),
                            Map.entry("resetNoCors", "opaque 0 blank"),
                            Map.entry("status", "TypeError"),
                            Map.entry("fault", "TypeError"),
                            // As vLLM has it, so the page does reach the server.
                            Map.entry("models", "cors 200 read"),
                            Map.entry("events", "error"),
                            Map.entry("form", "unreadable")));
        } finally {
            elsewhere.stop(0);
        }
        cluster.hasNotChanged();
    }

    private static void serveBlankPages(HttpServer elsewhere) {
        byte[] page = "<!doctype html><title>elsewhere</title><body></body>".getBytes(StandardCharsets.UTF_8);
        elsewhere.createContext("/", exchange -> {
            exchange.getResponseHeaders().set("Content-Type", "text/html");
            exchange.sendResponseHeaders(200, page.length);
            exchange.getResponseBody().write(page);
            exchange.close();
        });
        elsewhere.start();
    }

    /** The page is one of the server's own only by its name, which its owner has made to point to the server by now. */
    @Test
    void reboundNames_changeAndReadNothing() {
        var cluster = WarmCluster.start(server);
        browser.get("http://evil.example:" + server.server().address().getPort() + "/page/page.css");

        assertThat(fetched("/health", "GET")).isEqualTo("200");
        for (String path : List.of("/admin/clock/pause", "/admin/replicas/1/crash", "/reset_prefix_cache")) {
            assertThat(fetched(path, "POST")).as(path).isEqualTo("403");
        }
        assertThat(fetched("/admin/status", "GET")).isEqualTo("403");
        assertThat(fetched("/live/events", "GET")).isEqualTo("403");

        cluster.hasNotChanged();
    }

    @ParameterizedTest
    @CsvSource({"127.0.0.1", "localhost"})
    void ownPage_getsThrough(String host) {
        WarmCluster.start(server);
        browser.get("http://" + host + ":" + server.server().address().getPort() + "/page/page.css");

        assertThat(fetched("/admin/replicas/1/crash", "POST")).isEqualTo("200");
        assertThat(fetched("/reset_prefix_cache", "POST")).isEqualTo("200");
        assertThat(fetched("/live/events", "GET")).isEqualTo("200");
    }

    @Test
    void livePage_showsUpInNoFrame() throws IOException {
        WarmCluster.start(server);
        var elsewhere = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        serveBlankPages(elsewhere);
        try {
            browser.get("http://127.0.0.1:" + elsewhere.getAddress().getPort() + "/");
            browser.executeAsyncScript("""
                    const [url, done] = arguments;
                    const frame = document.createElement('iframe');
                    frame.addEventListener('load', done);
                    frame.src = url;
                    document.body.append(frame);""", server.url() + "/");

            browser.switchTo().frame(0);
            assertThat(browser.getPageSource()).doesNotContain("Add a replica");
        } finally {
            elsewhere.stop(0);
        }
    }

    private String fetched(String path, String method) {
        return Objects.toString(browser.executeAsyncScript(FETCH, path, method));
    }
}
