package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The server as a process of its own. */
final class ServeProcessTest {
    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    @Test
    void serve_saysWhereItListens_answers_andEndsWithZeroOnSigterm() throws Exception {
        var process = start("serve", "conf/serve.conf", "--port", "0", "--set", "server.access-log=true");
        try (var out = reader(process)) {
            // The first line is of the server itself: its warm-up has no log.
            String address = out.readLine();
            String ready = out.readLine();
            assertThat(address).startsWith("understudy listens at http://127.0.0.1:");
            assertThat(ready).startsWith("ready: 4 replica(s), speed 1.0");
            String url = address.substring(address.indexOf("http"));

            var models = get(url + "/v1/models");
            var stream = CLIENT.sendAsync(
                    HttpRequest.newBuilder(URI.create(url + "/v1/completions"))
                            .header("Content-Type", "application/json")
                            .POST(HttpRequest.BodyPublishers.ofString(
                                    "{\"prompt\": \"x\", \"max_tokens\": 60, \"ignore_eos\": true, \"stream\": true}"))
                            .build(),
                    HttpResponse.BodyHandlers.ofLines());
            var lines = stream.get().body().iterator();
            lines.next();
            // The stream has its line while it goes on.
            assertThat(out.readLine()).matches("INFO: {5}127\\.0\\.0\\.1:\\d+ - \"GET /v1/models HTTP/1\\.1\" 200 OK");
            assertThat(out.readLine())
                    .matches("INFO: {5}127\\.0\\.0\\.1:\\d+ - \"POST /v1/completions HTTP/1\\.1\" 200 OK");
            process.destroy();

            assertThat(models.statusCode()).isEqualTo(200);
            var rest = new ArrayList<String>();
            lines.forEachRemaining(rest::add);
            assertThat(rest).contains("data: [DONE]");
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isZero();
        } finally {
            process.destroyForcibly();
        }
    }

    /** vLLM's worker of another node than the first: a process without a port. */
    @Test
    void headlessWorker_runsUntilSigterm() throws Exception {
        int port;
        try (var free = new java.net.ServerSocket(0, 1, java.net.InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        var process = start("vllm", "serve", "Qwen/Qwen3-8B", "--headless", "--port", String.valueOf(port));
        try (var out = reader(process)) {
            assertThat(out.readLine()).startsWith("ready: a worker without HTTP");
            assertThatThrownBy(() -> get("http://127.0.0.1:" + port + "/health"))
                    .isInstanceOf(java.net.ConnectException.class);

            process.destroy();

            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isZero();
        } finally {
            process.destroyForcibly();
        }
    }

    /** SGLang's words as one, weaker than {@code --set}: the model of the words, and a port of SGLang. */
    @Test
    void serve_withTheWordsOfSglang_servesItsEngine() throws Exception {
        var process = start(
                "serve",
                "--sglang-args",
                "--model-path Qwen/Qwen3-8B --page-size 16 --context-length 4096 --port 1",
                "--set",
                "server.port=0",
                "--set",
                "engine.max-model-len=2048");
        try (var out = reader(process)) {
            String line = out.readLine();
            while (!line.startsWith("understudy listens at ")) {
                line = out.readLine();
            }
            String url = line.substring(line.indexOf("http"));

            assertThat(get(url + "/get_model_info").body()).contains("\"model_path\":\"Qwen/Qwen3-8B\"");
            assertThat(get(url + "/get_server_info").body()).contains("\"page_size\":16", "\"context_length\":2048");
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void serve_withTheWordsOfBothEngines_isRefused() {
        var refused = CommandLineFixture.call("serve", "--vllm-args", "a/b", "--sglang-args", "a/b");

        assertThat(refused.exitCode).isEqualTo(2);
        assertThat(refused.err)
                .isEqualTo("--sglang-args: a server is either vLLM's or SGLang's; leave out --vllm-args\n");
    }

    @Test
    void serve_onATakenPort_saysSo() throws Exception {
        try (var taken = new java.net.ServerSocket(0, 1, java.net.InetAddress.getLoopbackAddress())) {
            var process = start("serve", "conf/serve.conf", "--port", String.valueOf(taken.getLocalPort()));
            try (var out = reader(process)) {
                String said = String.join("\n", out.lines().toList());

                assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
                assertThat(process.exitValue()).isEqualTo(2);
                assertThat(said)
                        .contains("server.port is \"" + taken.getLocalPort() + "\", where it cannot listen")
                        .hasLineCount(1);
            }
        }
    }

    @Test
    void serve_neverLoadsTheClusterOfSweeps() throws Exception {
        var process = start("-Xlog:class+load:stdout", "serve", "conf/serve.conf", "--port", "0");
        var loaded = new ArrayList<String>();
        try (var out = reader(process)) {
            for (String line = out.readLine(); !line.startsWith("ready"); line = out.readLine()) {
                loaded.add(line);
            }
        } finally {
            process.destroyForcibly();
        }

        assertThat(loaded)
                .anyMatch(line -> line.contains("org.apache.pekko.http"))
                .noneMatch(ServeProcessTest::isOfSweepsOverMachines);
    }

    private static boolean isOfSweepsOverMachines(String line) {
        return line.contains("org.apache.pekko.cluster") || line.contains("org.apache.pekko.remote");
    }

    @Test
    void run_neverLoadsTheHttpServer() throws Exception {
        var process = start("-Xlog:class+load:stdout", "run", "conf/demo.conf", "--set", "workload.requests=50");
        var loaded = new ArrayList<String>();
        try (var out = reader(process)) {
            out.lines().filter(line -> line.contains("[class,load]")).forEach(loaded::add);
        }

        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).isZero();
        assertThat(loaded).anyMatch(line -> line.contains("understudy.cluster.Replica"));
        assertThat(loaded)
                .noneMatch(line -> line.contains("org.apache.pekko.http") || line.contains("org.apache.pekko.stream"))
                .noneMatch(ServeProcessTest::isOfSweepsOverMachines);
    }

    @Test
    void serve_forOthersWithoutAToken_isRefused() {
        var refused = CommandLineFixture.call("serve", "conf/serve.conf", "--set", "server.host=0.0.0.0");

        assertThat(refused.exitCode).isEqualTo(2);
        assertThat(refused.err).contains("server.host is \"0.0.0.0\", which others can reach");
    }

    private static Process start(String... args) throws IOException {
        return ProcessFixture.command(args).redirectErrorStream(true).start();
    }

    private static BufferedReader reader(Process process) {
        return new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    private static HttpResponse<String> get(String url) throws IOException, InterruptedException {
        return CLIENT.send(HttpRequest.newBuilder(URI.create(url)).build(), HttpResponse.BodyHandlers.ofString());
    }
}
