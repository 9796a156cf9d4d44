package understudy.api.kvevents;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.management.UnixOperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.Waiting;
import understudy.api.ServerFixture;
import understudy.api.model.SmallTokenizer;
import understudy.cluster.Cluster;
import understudy.cluster.KvBlockManager;
import understudy.host.Reply;

/** What a subscriber makes of the KV events of a server, after calls over HTTP. */
final class ServedKvEventsTest {
    private static final String KV_EVENTS = """
        kv-cache.kv-events {
          enable-kv-cache-events = true
          endpoint = "tcp://127.0.0.1:*"
          replay-endpoint = "tcp://127.0.0.1:*"
          topic = "kv@replica-{replica}@m"
          format = %s
        }
        """;

    @AutoClose
    private final ServerFixture server = new ServerFixture();

    /** A replica with KV events has two sockets of ZeroMQ, and these nine descriptors; 12 replicas would leave 108. */
    @Test
    void replicasThatComeAndGo_leaveNoDescriptors() {
        server.speed = Double.POSITIVE_INFINITY;
        server.moreSettings = KV_EVENTS.formatted("map");
        server.startAlone();
        int index = 1;
        for (; index <= 3; index++) {
            comeAndGo(index);
        }
        long before = numDescriptors();
        for (; index <= 15; index++) {
            comeAndGo(index);
        }

        Waiting.until(() -> numDescriptors() <= before + 9);
        // Of 15 removed replicas the last ten are shown, and the one that is there.
        var shown = server.get("/admin/status").json().get("replicas");
        assertThat(shown).hasSize(11);
        assertThat(shown.get(0).get("replica").asInt()).isZero();
        assertThat(shown.get(1).get("replica").asInt()).isEqualTo(6);
    }

    private void comeAndGo(int index) {
        var publisher = server.server().kvEvents().orElseThrow();
        assertThat(server.post("/admin/replicas", "").status()).isEqualTo(200);
        Waiting.until(() -> publisher.hasSockets(index));
        assertThat(server.post("/admin/replicas/" + index + "/remove", "").status())
                .isEqualTo(200);
        Waiting.until(() -> !publisher.hasSockets(index));
    }

    private static long numDescriptors() {
        return ((UnixOperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getOpenFileDescriptorCount();
    }

    @ParameterizedTest
    @EnumSource(KvEventSettings.Format.class)
    void subscriber_rebuildsTheTablesOfTheReplicas(KvEventSettings.Format format) {
        server.numReplicas = 2;
        // 139 blocks of 16 tokens: two prompts of 1000 tokens and their answers do not fit beside each other for long.
        server.numBlocks = 140;
        server.speed = Double.POSITIVE_INFINITY;
        server.moreSettings = KV_EVENTS.formatted(format.name().toLowerCase(Locale.ROOT));
        server.startAlone();
        var publisher = server.server().kvEvents().orElseThrow();

        try (var first = new KvEventSubscriber(publisher, 0);
                var second = new KvEventSubscriber(publisher, 1)) {
            complete(prompt(0));
            awaitQuiet(publisher);
            first.catchUp();
            int[] tokens = tokens(prompt(0));
            int numFull = tokens.length / 16 * 16;
            assertThat(first.tokens().stream().mapToInt(token -> token).limit(numFull))
                    .containsExactly(
                            Arrays.stream(tokens).limit(numFull).boxed().toArray(Integer[]::new));

            // Every other one goes to either replica; each prompt comes twice, so that some blocks are found again.
            for (int i = 0; i < 12; i++) {
                complete(prompt(1 + i % 6));
            }
            awaitQuiet(publisher);
            first.catchUp();
            second.catchUp();

            assertThat(first.numRemoved()).isPositive();
            assertThat(second.numRemoved()).isPositive();
            assertThat(first.sortedHashes()).isNotEmpty().isEqualTo(table(0));
            assertThat(second.sortedHashes()).isNotEmpty().isEqualTo(table(1));
        }
    }

    /**
     * SGLang tells of its tree page by page, when a node is stored and when it is removed ({@code mem_cache/events.py}, {@code
     * _record_store_event} and {@code _record_remove_event}).
     */
    @ParameterizedTest
    @EnumSource(KvEventSettings.Format.class)
    void sglangsTree_isToldPageByPage(KvEventSettings.Format format) {
        server.speed = Double.POSITIVE_INFINITY;
        server.moreSettings = KV_EVENTS.formatted(format.name().toLowerCase(Locale.ROOT)) + """
                engine.kind = sglang
                kv-cache.num-gpu-blocks = auto
                engine.sglang { max-total-tokens = 2240, page-size = 16 }
                """;
        server.startAlone();
        var publisher = server.server().kvEvents().orElseThrow();

        try (var subscriber = new KvEventSubscriber(publisher, 0)) {
            complete(prompt(0));
            awaitQuiet(publisher);
            subscriber.catchUp();
            int[] tokens = tokens(prompt(0));
            int numFull = tokens.length / 16 * 16;
            assertThat(subscriber.tokens().stream().mapToInt(token -> token).limit(numFull))
                    .containsExactly(
                            Arrays.stream(tokens).limit(numFull).boxed().toArray(Integer[]::new));
            assertThat(subscriber.tokens()).hasSize(16 * subscriber.numStored());

            // Two prompts and their answers do not fit beside each other.
            for (int i = 0; i < 6; i++) {
                complete(prompt(1 + i % 3));
            }
            awaitQuiet(publisher);
            subscriber.catchUp();

            assertThat(subscriber.numRemoved()).isPositive();
            assertThat(subscriber.sortedHashes()).isNotEmpty().isEqualTo(table(0));
        }
    }

    /** 5 + 16 * 2 + 2 tokens, two blocks of which are full: a router that renders the chat itself knows their hashes. */
    @Test
    void chat_fillsBlocksWithTheTokensOfTheModelsTemplate(@TempDir Path folder) throws IOException {
        Files.writeString(
                folder.resolve("chat_template.jinja"),
                "{% for m in messages %}<|im_start|>{{ m.role }} {{ m.content }}<|im_end|>{% endfor %}<|im_start|>");
        server.moreSettings =
                KV_EVENTS.formatted("map") + "server.tokenizer = \"" + SmallTokenizer.write(folder) + "\"";
        server.startAlone();
        var publisher = server.server().kvEvents().orElseThrow();

        try (var subscriber = new KvEventSubscriber(publisher, 0)) {
            String chat = "{\"max_tokens\": 2, \"messages\": [{\"role\": \"user\", \"content\": \"hello"
                    + " hello".repeat(15) + "\"}]}";
            server.post("/v1/chat/completions", chat);
            awaitQuiet(publisher);
            subscriber.catchUp();
            var rendered =
                    server.post("/v1/chat/completions/render", chat).json().get("token_ids");

            assertThat(rendered).hasSize(39);
            assertThat(subscriber.tokens())
                    .hasSize(32)
                    .startsWith(261, (int) 'u', (int) 's', (int) 'e', (int) 'r', 32, 259)
                    .containsExactlyElementsOf(StreamSupport.stream(rendered.spliterator(), false)
                            .limit(32)
                            .map(JsonNode::asInt)
                            .toList());
            assertThat(subscriber.sortedHashes()).isEqualTo(table(0));
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void topic_namesTheServerBehindWhichTheReplicaIs(boolean portsPerReplica) {
        server.numReplicas = 2;
        server.portsPerReplica = portsPerReplica;
        server.moreSettings = """
            server.host = "127.0.0.1"
            kv-cache.kv-events {
              enable-kv-cache-events = true
              endpoint = "tcp://127.0.0.1:*"
              replay-endpoint = "tcp://127.0.0.1:*"
              topic = "kv@{host}:{port}@{model}/{replica}"
            }
            """;
        server.startAlone();
        var publisher = server.server().kvEvents().orElseThrow();
        // One goes to either replica.
        complete(prompt(0));
        complete(prompt(1));
        awaitQuiet(publisher);

        for (int i = 0; i < 2; i++) {
            var address = portsPerReplica
                    ? server.server().replicaAddresses().get(i)
                    : server.server().address();
            assertThat(ReplayClient.ask(publisher.replayEndpoint(i), 0).get(0).topic)
                    .isEqualTo("kv@127.0.0.1:" + address.getPort() + "@m/" + i);
        }
    }

    @Test
    void topic_takesNamesAsTheyAre() {
        var names = new KvEventNames("h", "10.0.0.7", replica -> 8000 + replica, "{port}$1");

        assertThat(names.in("kv@{ip}:{port}@{model}", 2)).isEqualTo("kv@10.0.0.7:8002@{port}$1");
        assertThat(names.in("{nothing}", 0)).isEqualTo("{nothing}");
    }

    private static String prompt(int i) {
        return ("Prompt number " + i + " goes on and on. ").repeat(100);
    }

    private void complete(String prompt) {
        var reply = server.post(
                "/v1/completions", "{\"prompt\": \"" + prompt + "\", \"max_tokens\": 20, \"ignore_eos\": true}");
        assertThat(reply.status()).isEqualTo(200);
    }

    private int[] tokens(String prompt) {
        var tokenized =
                server.post("/tokenize", "{\"prompt\": \"" + prompt + "\"}").json();
        return StreamSupport.stream(tokenized.get("tokens").spliterator(), false)
                .mapToInt(token -> token.asInt())
                .toArray();
    }

    /** Waits until nothing more comes: the publisher follows the answers at a small distance. */
    private void awaitQuiet(KvEventPublisher publisher) {
        server.awaitMetric("vllm:num_requests_running", "", running -> running == 0);
        long before = -1;
        for (long now = numBatches(publisher); now != before; now = numBatches(publisher)) {
            before = now;
            for (int i = 0; i < 20; i++) {
                server.get("/health");
            }
        }
    }

    private static long numBatches(KvEventPublisher publisher) {
        return publisher.numBatches(0) + publisher.numBatches(1);
    }

    /** Returns the hashes that the memory of a replica holds, in ascending order. */
    private long[] table(int replica) {
        var api = server.server().api();
        var hashes = Reply.ask(
                        api.system(),
                        api.cluster().time().system(),
                        KvBlockManager.BlockHashes.class,
                        ref -> new Cluster.GetBlockHashes(replica, ref))
                .toCompletableFuture()
                .join()
                .hashes()
                .toLongArray();
        Arrays.sort(hashes);
        return hashes;
    }
}
