package understudy.api.openai;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Arrays;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.api.ServerFixture;
import understudy.api.media.SmallMedia;

/** Pictures in chats, over a real connection. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class MediaRoutesTest {
    private static final String CHAT = "/v1/chat/completions";

    /** 448 x 448: 16 x 16 squares of 28 pixels, and two marks. */
    private static final int PICTURE = 258;

    @AutoClose
    private final ServerFixture server = started();

    private static ServerFixture started() {
        var server = new ServerFixture();
        server.maxBodyBytes = 1 << 24;
        server.moreSettings = "server.multimodal { processor = qwen2-vl, limit-mm-per-prompt.image = 3 }";
        return server.start();
    }

    private static String url(int variant) {
        byte[] png = SmallMedia.png(448, 448);
        png[png.length - 1] = (byte) variant;
        return SmallMedia.url(png);
    }

    private static String chat(String... urls) {
        var parts = new StringBuilder();
        for (String url : urls) {
            parts.append("{\"type\": \"image_url\", \"image_url\": {\"url\": \"" + url + "\"}},");
        }
        return "{\"max_tokens\": 2, \"messages\": [{\"role\": \"user\", \"content\": [" + parts
                + "{\"type\": \"text\", \"text\": \"Look\"}]}]}";
    }

    private static int promptTokens(JsonNode answer) {
        return answer.at("/usage/prompt_tokens").asInt();
    }

    @Test
    void picture_isCounted() {
        int text = promptTokens(server.post(CHAT, chat()).json());
        int one = promptTokens(server.post(CHAT, chat(url(1))).json());
        int two = promptTokens(server.post(CHAT, chat(url(1), url(2))).json());

        // A line break stands between a picture and what follows it, a token each.
        assertThat(one - text).isBetween(PICTURE, PICTURE + 2);
        assertThat(two - one).isBetween(PICTURE, PICTURE + 2);
    }

    @Test
    void equalPictures_hitTheCache_andOthersDoNot() {
        var first = server.post(CHAT, chat(url(11))).json();
        var again = server.post(CHAT, chat(url(11))).json();
        var other = server.post(CHAT, chat(url(12))).json();

        assertThat(first.at("/usage/prompt_tokens_details/cached_tokens").asInt())
                .isZero();
        // 258 tokens and the text before them: all full blocks of 16 but perhaps the last.
        assertThat(again.at("/usage/prompt_tokens_details/cached_tokens").asInt())
                .isGreaterThanOrEqualTo(256);
        assertThat(other.at("/usage/prompt_tokens_details/cached_tokens").asInt())
                .isZero();
    }

    @Test
    void dialects_countTheSame() {
        int text = promptTokens(server.post(CHAT, chat()).json());
        var message = server.post("/v1/messages", """
            {"model": "m", "max_tokens": 2, "messages": [{"role": "user", "content": [{"type": "image", "source":
              {"type": "base64", "media_type": "image/png", "data": "%s"}}, {"type": "text", "text": "Look"}]}]}\
            """.formatted(url(1).substring("data:image/png;base64,".length())));
        var response = server.post("/v1/responses", """
            {"max_output_tokens": 2, "input": [{"role": "user", "content": [
              {"type": "input_image", "image_url": "%s"}, {"type": "input_text", "text": "Look"}]}]}\
            """.formatted(url(1)));
        var counted = server.post("/tokenize", chat(url(1)));

        assertThat(message.json().at("/usage/input_tokens").asInt()).isBetween(text + PICTURE, text + PICTURE + 2);
        assertThat(response.json().at("/usage/input_tokens").asInt()).isBetween(text + PICTURE, text + PICTURE + 2);
        assertThat(counted.json().get("count").asInt()).isBetween(text + PICTURE, text + PICTURE + 2);
    }

    @Test
    void pictureThatATool_answersIsCounted() {
        var reply = server.post("/v1/responses", """
            {"max_output_tokens": 2, "input": [{"role": "user", "content": "Look"},
              {"type": "function_call", "call_id": "c", "name": "view", "arguments": "{}"},
              {"type": "function_call_output", "call_id": "c", "output": [
                {"type": "input_image", "image_url": "%s"}]}]}\
            """.formatted(url(1)));

        assertThat(reply.json().at("/usage/input_tokens").asInt()).isGreaterThan(PICTURE);
    }

    @Test
    void pictureOfTenMegabytes_isCountedAsASmallOne() {
        String large = SmallMedia.url(Arrays.copyOf(SmallMedia.png(448, 448), 10_000_000));

        assertThat(promptTokens(server.post(CHAT, chat(large)).json()))
                .isEqualTo(promptTokens(server.post(CHAT, chat(url(1))).json()));
    }

    @Test
    void tooManyTokens_areRefusedAsALongPrompt() {
        // 1400 x 1400: 50 x 50 squares, more than the 2,048 of the context.
        var reply = server.post(CHAT, chat(SmallMedia.url(SmallMedia.png(1400, 1400))));

        assertThat(reply.status()).isEqualTo(400);
        assertThat(reply.text()).contains("maximum context length is 2048 tokens");
    }

    @Test
    void moreThanTheLimit_isRefused() {
        var reply = server.post(CHAT, chat(url(1), url(2), url(3), url(4)));

        assertThat(reply.status()).isEqualTo(400);
        assertThat(reply.json().at("/error/message").asText())
                .isEqualTo("At most 3 image(s) may be provided in one prompt.");
    }

    /** What a client writes of marks itself is bounded by the context. */
    @ParameterizedTest
    @CsvSource({"\uFDD0999999999_0000000000000000\uFDD1, 400", "\uFDD05_00zz\uFDD1, 200", "\uFDD0\uFDD0\uFDD1, 200"})
    void markOfAClient_doesNoHarm(String text, int status) {
        var reply = server.post(
                CHAT, "{\"max_tokens\": 2, \"messages\": [{\"role\": \"user\", \"content\": \"" + text + "\"}]}");

        assertThat(reply.status()).isEqualTo(status);
    }
}
