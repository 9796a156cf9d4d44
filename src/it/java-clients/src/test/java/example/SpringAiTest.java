package example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.openai.OpenAiChatModel;
import org.springframework.ai.openai.OpenAiChatOptions;
import org.springframework.ai.openai.api.OpenAiApi;
import org.springframework.ai.openai.api.ResponseFormat;
import org.springframework.ai.retry.NonTransientAiException;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.function.FunctionToolCallback;

/** The client of Spring AI, without Spring Boot. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class SpringAiTest {
    @AutoClose
    private final ServedCluster server = new ServedCluster(10);

    private final OpenAiChatModel model = OpenAiChatModel.builder()
            .openAiApi(OpenAiApi.builder().baseUrl(server.url()).apiKey("any").build())
            .defaultOptions(OpenAiChatOptions.builder()
                    .model("m")
                    .maxCompletionTokens(30)
                    .build())
            .build();

    /** A place, which the model chooses. */
    record Place(String city) {}

    private static ToolCallback weather(List<String> cities) {
        Function<Place, String> tool = place -> {
            cities.add(place.city());
            return "sunny";
        };
        return FunctionToolCallback.builder("weather", tool)
                .description("The weather of a place.")
                .inputType(Place.class)
                .build();
    }

    private static Prompt prompt(OpenAiChatOptions.Builder options) {
        return new Prompt("Hello", options.build());
    }

    private List<ChatResponse> stream(Prompt prompt) {
        return model.stream(prompt).collectList().block();
    }

    private static String text(List<ChatResponse> chunks) {
        var text = new StringBuilder();
        for (var chunk : chunks) {
            if (chunk.getResult() != null && chunk.getResult().getOutput().getText() != null) {
                text.append(chunk.getResult().getOutput().getText());
            }
        }
        return text.toString();
    }

    @Test
    void call() {
        var answer = model.call(new Prompt("Hello"));
        var usage = answer.getMetadata().getUsage();

        assertThat(answer.getResult().getOutput().getText()).isNotEmpty();
        assertThat(answer.getResult().getMetadata().getFinishReason()).isIn("STOP", "LENGTH");
        assertThat(answer.getMetadata().getModel()).isEqualTo("m");
        assertThat(usage.getCompletionTokens()).isBetween(1, 30);
        assertThat(usage.getTotalTokens()).isEqualTo(usage.getPromptTokens() + usage.getCompletionTokens());
    }

    @Test
    void stream_endsWithItsUsage() {
        var chunks = stream(prompt(OpenAiChatOptions.builder().streamUsage(true)));

        assertThat(chunks).hasSizeGreaterThan(1);
        assertThat(text(chunks)).isNotEmpty();
        assertThat(chunks.get(chunks.size() - 1).getMetadata().getUsage().getCompletionTokens())
                .isBetween(1, 30);
    }

    @Test
    void stream_withoutUsage() {
        var chunks = stream(new Prompt("Hello"));

        assertThat(text(chunks)).isNotEmpty();
        assertThat(chunks)
                .allSatisfy(chunk -> assertThat(chunk.getMetadata().getUsage().getTotalTokens())
                        .isZero());
    }

    @Test
    void tool_isCalledAndAnswered() {
        var cities = new ArrayList<String>();

        var answer = model.call(prompt(OpenAiChatOptions.builder().toolCallbacks(weather(cities))));

        assertThat(cities).hasSize(1).doesNotContainNull();
        assertThat(answer.getResult().getOutput().getText()).isNotEmpty();
        assertThat(answer.hasToolCalls()).isFalse();
    }

    @Test
    void tool_isCalledAndAnsweredInAStream() {
        var cities = new ArrayList<String>();

        var chunks = stream(prompt(OpenAiChatOptions.builder().toolCallbacks(weather(cities))));

        assertThat(cities).hasSize(1).doesNotContainNull();
        assertThat(text(chunks)).isNotEmpty();
    }

    @Test
    void tool_isLeftToTheCaller() {
        var answer = model.call(prompt(OpenAiChatOptions.builder()
                .toolCallbacks(weather(new ArrayList<>()))
                .internalToolExecutionEnabled(false)));

        assertThat(answer.getResult().getOutput().getToolCalls())
                .extracting(AssistantMessage.ToolCall::name)
                .containsExactly("weather");
    }

    @Test
    void schema() {
        var format = new ResponseFormat(
                ResponseFormat.Type.JSON_SCHEMA,
                "{\"type\":\"object\",\"properties\":{\"n\":{\"enum\":[7]}},\"required\":[\"n\"],"
                        + "\"additionalProperties\":false}");

        var answer = model.call(prompt(OpenAiChatOptions.builder().responseFormat(format)));

        assertThat(answer.getResult().getOutput().getText()).isEqualToIgnoringWhitespace("{\"n\":7}");
    }

    @Test
    void errors_areNotTriedAgain() {
        double before = server.metric("http_requests_total", "status=\"4xx\"");
        var unknown = prompt(OpenAiChatOptions.builder().model("other"));
        var tooHot = prompt(OpenAiChatOptions.builder().temperature(9.0));

        assertThatThrownBy(() -> model.call(unknown))
                .isInstanceOf(NonTransientAiException.class)
                .hasMessageContaining("404")
                .hasMessageContaining("The model `other` does not exist.");
        assertThatThrownBy(() -> model.call(tooHot))
                .isInstanceOf(NonTransientAiException.class)
                .hasMessageContaining("400")
                .hasMessageContaining("temperature");
        server.awaitMetric("http_requests_total", "status=\"4xx\"", count -> count == before + 2);
    }
}
