package understudy.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.http.HttpRequest;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import understudy.api.http.Json;

/** Calls that belong to sessions, on two replicas that find prefixes by session only. */
final class SessionsOverHttpTest {
    private static final String CHAT = "/v1/chat/completions";
    private static final String RESPONSES = "/v1/responses";

    @AutoClose
    private final ServerFixture server = server();

    private static ServerFixture server() {
        var server = new ServerFixture();
        server.numReplicas = 2;
        server.moreSettings = "kv-cache.sessions = detailed, router.policy = session-affinity";
        return server.start();
    }

    @Test
    void callOfASession_findsWhatWasSaidBefore() {
        var messages = Json.array();
        var first = chat(say(messages, "user", "Hello"), "alice");
        say(messages, "assistant", first.at("/choices/0/message/content").asText());
        var second = chat(say(messages, "user", "And then?"), "alice");

        // All of the first turn: its prompt and its answer of 16 tokens.
        int numBefore = first.at("/usage/total_tokens").asInt();
        assertThat(first.at("/usage/completion_tokens").asInt()).isEqualTo(16);
        assertThat(numCached(second)).isEqualTo(numBefore);
        assertThat(numCached(chat(messages, "bob"))).as("another session").isZero();
        assertThat(numCached(chat(messages, ""))).as("no session").isZero();
    }

    @Test
    void completions_haveSessionsToo() {
        String first = "{\"prompt\": [1, 2, 3, 4], \"max_tokens\": 4, \"return_token_ids\": true}";
        var ids = server.post("/v1/completions", first, "X-Session-Id", "s")
                .json()
                .at("/choices/0/token_ids");

        var prompt =
                Json.array().add(1).add(2).add(3).add(4).addAll((ArrayNode) ids).add(5);
        var second = Json.object().put("max_tokens", 1);
        second.set("prompt", prompt);
        var usage = server.post("/v1/completions", Json.write(second), "X-Session-Id", "s")
                .json()
                .get("usage");

        assertThat(usage.at("/prompt_tokens_details/cached_tokens").asInt()).isEqualTo(4 + 4);
    }

    @Test
    void response_continuesAnotherOne() {
        var first = respond("{\"input\": \"Hello\", \"max_output_tokens\": 16}");
        String id = first.get("id").asText();

        var second = respond(next("And then?", id));
        var third = respond(next("And now?", second.get("id").asText()));

        assertThat(second.get("previous_response_id").asText()).isEqualTo(id);
        // It begins with all that the first one has counted; its own question comes behind that.
        assertThat(numCachedInput(second))
                .isEqualTo(first.at("/usage/total_tokens").asInt());
        assertThat(second.at("/usage/input_tokens").asInt()).isGreaterThan(numCachedInput(second));
        assertThat(numCachedInput(third))
                .isEqualTo(second.at("/usage/total_tokens").asInt());
    }

    @Test
    void response_continuesAsIfAllWereSaidAgain() {
        var first = respond("{\"instructions\": \"Be brief.\", \"input\": \"Hello\", \"max_output_tokens\": 16}");
        var again = Json.object().put("max_output_tokens", 16);
        var input = again.putArray("input");
        say(input, "user", "Hello");
        say(input, "assistant", first.at("/output/0/content/0/text").asText());
        say(input, "user", "And then?");

        var byId = respond(next("And then?", first.get("id").asText()));

        // Instructions hold for one response.
        assertThat(byId.at("/usage/input_tokens").asInt())
                .isEqualTo(respond(Json.write(again)).at("/usage/input_tokens").asInt());
    }

    @Test
    void streamedResponse_canBeContinued() {
        var events = server.post(RESPONSES, "{\"input\": \"Hello\", \"max_output_tokens\": 16, \"stream\": true}")
                .events();
        var first = events.get(events.size() - 1).get("response");

        var second = respond(next("And then?", first.get("id").asText()));

        assertThat(numCachedInput(second))
                .isEqualTo(first.at("/usage/total_tokens").asInt());
    }

    @Test
    void responseThatIsNotStored_cannotBeContinued() {
        var first = respond("{\"input\": \"Hello\", \"max_output_tokens\": 16, \"store\": false}");
        String id = first.get("id").asText();

        var second = server.post(RESPONSES, next("And then?", id));

        assertThat(second.status()).isEqualTo(404);
        assertThat(second.json().at("/error/message").asText()).isEqualTo("Response with id '" + id + "' not found.");
    }

    @Test
    void nameThatIsTooLong_isRefused() {
        var reply =
                server.post(CHAT, Json.write(call(say(Json.array(), "user", "x"))), "X-Session-Id", "x".repeat(257));

        assertThat(reply.status()).isEqualTo(400);
        assertThat(reply.json().at("/error/message").asText()).contains("X-Session-Id");
    }

    @Test
    void pagesFromElsewhere_maySendTheHeader() {
        var preflight = server.send(server.request(
                        CHAT,
                        "Origin",
                        "http://elsewhere.example",
                        "Access-Control-Request-Method",
                        "POST",
                        "Access-Control-Request-Headers",
                        "x-session-id")
                .method("OPTIONS", HttpRequest.BodyPublishers.noBody()));

        assertThat(preflight.headers().firstValue("Access-Control-Allow-Headers"))
                .contains("x-session-id");
    }

    private JsonNode chat(ArrayNode messages, String session) {
        String body = Json.write(call(messages));
        return (session.isEmpty() ? server.post(CHAT, body) : server.post(CHAT, body, "X-Session-Id", session)).json();
    }

    private static ObjectNode call(ArrayNode messages) {
        var call = Json.object().put("max_tokens", 16).put("ignore_eos", true);
        call.set("messages", messages);
        return call;
    }

    private static ArrayNode say(ArrayNode messages, String role, String content) {
        messages.addObject().put("role", role).put("content", content);
        return messages;
    }

    private JsonNode respond(String body) {
        return server.post(RESPONSES, body).json();
    }

    private static String next(String input, String previous) {
        return Json.write(Json.object()
                .put("input", input)
                .put("previous_response_id", previous)
                .put("max_output_tokens", 16));
    }

    private static int numCached(JsonNode chat) {
        return chat.at("/usage/prompt_tokens_details/cached_tokens").asInt();
    }

    private static int numCachedInput(JsonNode response) {
        return response.at("/usage/input_tokens_details/cached_tokens").asInt();
    }
}
