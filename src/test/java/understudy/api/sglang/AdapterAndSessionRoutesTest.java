package understudy.api.sglang;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import understudy.api.ServerFixture;

/**
 * LoRA calls with the bodies of SGLang's {@code test/srt/lora/test_lora_update.py} and {@code LoRAUpdateOutput}, and sessions
 * as in its {@code test/srt/test_session_control.py}.
 */
final class AdapterAndSessionRoutesTest {
    @AutoClose
    private static final ServerFixture SERVER = new ServerFixture();

    @BeforeAll
    static void start() {
        SERVER.moreSettings = """
            engine.kind = sglang
            kv-cache.num-gpu-blocks = auto
            engine.sglang.max-total-tokens = 16000
            engine.sglang.enable-lora = true
            engine.sglang.lora-paths = ["tiny=/adapters/tiny"]
            """;
        SERVER.start();
    }

    private static ServerFixture.Reply load(String name) {
        return SERVER.post(
                "/load_lora_adapter",
                "{\"lora_name\": \"%1$s\", \"lora_path\": \"/adapters/%1$s\", \"pinned\": false}".formatted(name));
    }

    private static ServerFixture.Reply unload(String name) {
        return SERVER.post("/unload_lora_adapter", "{\"lora_name\": \"" + name + "\"}");
    }

    @Test
    void adapters_comeAndGo() {
        String call = "{\"text\": \"x\", \"lora_path\": \"late\", \"sampling_params\": {\"max_new_tokens\": 1}}";
        assertThat(SERVER.post("/generate", call).status()).isEqualTo(400);

        var loaded = load("late");
        assertThat(loaded.status()).isEqualTo(200);
        assertThat(loaded.text())
                .isEqualTo("{\"success\":true,\"error_message\":\"\",\"loaded_adapters\":{\"tiny\":\"/adapters/tiny\","
                        + "\"late\":\"/adapters/late\"}}");
        assertThat(SERVER.post("/generate", call).status()).isEqualTo(200);
        assertThat(SERVER.get("/v1/models").json().at("/data").findValuesAsText("id"))
                .contains("late");

        var again = load("late");
        assertThat(again.status()).isEqualTo(400);
        assertThat(again.json().get("error_message").textValue())
                .isEqualTo("Failed to load LoRA adapter late because it is already loaded");
        assertThat(again.json().get("loaded_adapters")).hasSize(2);

        assertThat(unload("late").text())
                .isEqualTo(
                        "{\"success\":true,\"error_message\":\"\",\"loaded_adapters\":{\"tiny\":\"/adapters/tiny\"}}");
        var unknown = unload("late");
        assertThat(unknown.status()).isEqualTo(400);
        assertThat(unknown.text())
                .isEqualTo("{\"success\":false,\"error_message\":\"LoRA with name late does not exist. Loaded LoRAs:"
                        + " dict_keys(['tiny'])\",\"loaded_adapters\":null}");
    }

    @Test
    void fieldsOfAnAdapter_areRequired() {
        var reply = SERVER.post("/load_lora_adapter", "{\"lora_name\": \"x\"}");

        assertThat(reply.status()).isEqualTo(400);
        assertThat(reply.json().get("type").textValue()).isEqualTo("Bad Request");
    }

    private static String openSession(String fields) {
        var reply = SERVER.post("/open_session", "{\"capacity_of_str_len\": 1000" + fields + "}");
        assertThat(reply.status()).as(reply.text()).isEqualTo(200);
        return reply.json().textValue();
    }

    private static JsonNode generate(String ids, String session) {
        var reply = SERVER.post(
                "/generate",
                "{\"input_ids\": " + ids + ", \"session_params\": " + session
                        + ", \"sampling_params\": {\"max_new_tokens\": 4, \"ignore_eos\": true}}");
        assertThat(reply.status()).as(reply.text()).isEqualTo(200);
        return reply.json();
    }

    /** 3 + 4 tokens before, and 2 of its own; all but what was sampled last is in the cache. */
    @Test
    void session_goesOn() {
        String id = openSession("");
        String rid = generate("[100, 101, 102]", "{\"id\": \"" + id + "\"}")
                .at("/meta_info/id")
                .textValue();

        var second = generate("[103, 104]", "{\"id\": \"" + id + "\", \"rid\": \"" + rid + "\"}");

        assertThat(second.at("/meta_info/prompt_tokens").intValue()).isEqualTo(9);
        assertThat(second.at("/meta_info/cached_tokens").intValue()).isBetween(6, 7);
        assertThat(SERVER.post("/close_session", "{\"session_id\": \"" + id + "\"}")
                        .status())
                .isEqualTo(200);
        var closed = SERVER.post("/generate", "{\"text\": \"x\", \"session_params\": {\"id\": \"" + id + "\"}}");
        assertThat(closed.status()).isEqualTo(400);
        assertThat(closed.text())
                .isEqualTo("{\"error\":{\"message\":\"Invalid request: session id " + id + " does not exist\"}}");
    }

    /** The last event is the end, so that the next request can follow at once. */
    @Test
    void streamedRequest_canBeGoneOnFrom() {
        String id = openSession(", \"session_id\": \"mine\", \"streaming\": true");
        assertThat(id).isEqualTo("mine");
        for (int turn = 0; turn < 20; turn++) {
            var reply = SERVER.post(
                    "/generate",
                    "{\"input_ids\": [5, 6], \"stream\": true, \"session_params\": {\"id\": \"mine\"},"
                            + " \"sampling_params\": {\"max_new_tokens\": 3, \"ignore_eos\": true}}");

            var last = reply.events().get(reply.events().size() - 1);
            // Two tokens of its own, and five of each turn before.
            assertThat(last.at("/meta_info/prompt_tokens").intValue())
                    .as(reply.text())
                    .isEqualTo(2 + 5 * turn);
        }
    }

    @Test
    void openSession_isRefusedOnceMore() {
        openSession(", \"session_id\": \"twice\"");

        var again = SERVER.post("/open_session", "{\"capacity_of_str_len\": 1, \"session_id\": \"twice\"}");

        assertThat(again.status()).isEqualTo(400);
        assertThat(again.text())
                .isEqualTo(
                        "{\"error\":{\"message\":\"Failed to open the session. Check if a session with the same id is"
                                + " still open.\"}}");
    }

    @Test
    void putGenerates_too() {
        var request = SERVER.request("/generate").PUT(HttpRequest.BodyPublishers.ofString("{\"text\": \"x\"}"));

        assertThat(SERVER.client()
                        .sendAsync(request.build(), BodyHandlers.ofString())
                        .join()
                        .statusCode())
                .isEqualTo(200);
    }
}
