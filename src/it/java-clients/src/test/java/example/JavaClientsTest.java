package example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.core.http.StreamResponse;
import com.openai.errors.BadRequestException;
import com.openai.errors.NotFoundException;
import com.openai.models.chat.completions.ChatCompletionChunk;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.chat.completions.ChatCompletionStreamOptions;
import com.openai.models.responses.ResponseCreateParams;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.langchain4j.model.openai.OpenAiStreamingChatModel;
import dev.langchain4j.model.openai.OpenAiTokenUsage;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** The Java clients that applications use: OpenAI's own, and LangChain4j. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class JavaClientsTest {
    private static final String LONG = "Tell me about systems that serve. ".repeat(15);

    /** An answer that a client gives up would last 9.5 s, so that one on a busy machine is still in time. */
    @AutoClose
    private final ServedCluster server = new ServedCluster(1);

    @AutoClose("close")
    private final OpenAIClient openAi = OpenAIOkHttpClient.builder()
            .baseUrl(server.url() + "/v1")
            .apiKey("any")
            .build();

    private static ChatCompletionCreateParams.Builder question() {
        return ChatCompletionCreateParams.builder().model("m").maxCompletionTokens(20);
    }

    @Test
    void openAi_plain() {
        var answer = openAi.chat()
                .completions()
                .create(question().addUserMessage("Hello").build());

        assertThat(answer.choices().get(0).message().content().orElseThrow()).isNotEmpty();
        assertThat(answer.usage().orElseThrow().completionTokens()).isBetween(1L, 20L);
        assertThat(openAi.models().list().data())
                .extracting(model -> model.id())
                .containsExactly("m");
    }

    @Test
    void openAi_onSglang() {
        try (var sglang = ServedCluster.ofSglang()) {
            var client = OpenAIOkHttpClient.builder()
                    .baseUrl(sglang.url() + "/v1")
                    .apiKey("any")
                    .build();
            var answer = client.chat()
                    .completions()
                    .create(question().addUserMessage("Hello").build());
            var chunks = new ArrayList<ChatCompletionChunk>();
            try (StreamResponse<ChatCompletionChunk> stream = client.chat()
                    .completions()
                    .createStreaming(question().addUserMessage("Hello").build())) {
                stream.stream().forEach(chunks::add);
            }

            assertThat(answer.choices().get(0).message().content().orElseThrow())
                    .isNotEmpty();
            assertThat(answer.usage().orElseThrow().completionTokens()).isBetween(1L, 20L);
            assertThat(chunks).hasSizeBetween(2, 24);
            client.close();
        }
    }

    @Test
    void openAi_streaming() {
        var params = question()
                .addUserMessage("Hello")
                .putAdditionalBodyProperty("ignore_eos", com.openai.core.JsonValue.from(true))
                .streamOptions(
                        ChatCompletionStreamOptions.builder().includeUsage(true).build())
                .build();
        var chunks = new ArrayList<ChatCompletionChunk>();
        try (StreamResponse<ChatCompletionChunk> stream =
                openAi.chat().completions().createStreaming(params)) {
            stream.stream().forEach(chunks::add);
        }

        // The role, twenty tokens, the usage.
        assertThat(chunks).hasSize(22);
        assertThat(chunks.get(21).usage().orElseThrow().completionTokens()).isEqualTo(20);
    }

    @Test
    void openAi_conversation_hitsTheCacheMoreWithEveryTurn() {
        var params = question().addUserMessage(LONG);
        var cached = new ArrayList<Long>();
        for (int turn = 0; turn < 3; turn++) {
            var answer = openAi.chat().completions().create(params.build());
            cached.add(answer.usage()
                    .orElseThrow()
                    .promptTokensDetails()
                    .orElseThrow()
                    .cachedTokens()
                    .orElseThrow());
            params.addMessage(answer.choices().get(0).message()).addUserMessage("And then?");
        }

        assertThat(cached).isSorted().doesNotHaveDuplicates();
    }

    @Test
    void openAi_errorsAreTyped() {
        var unknown = ChatCompletionCreateParams.builder()
                .model("other")
                .addUserMessage("x")
                .build();
        var tooHot = question().addUserMessage("x").temperature(9.0).build();

        assertThatThrownBy(() -> openAi.chat().completions().create(unknown))
                .isInstanceOf(NotFoundException.class)
                .hasMessageContaining("The model `other` does not exist.");
        assertThatThrownBy(() -> openAi.chat().completions().create(tooHot))
                .isInstanceOf(BadRequestException.class)
                .hasMessageContaining("temperature");
    }

    @Test
    void openAi_responses() {
        var answer = openAi.responses()
                .create(ResponseCreateParams.builder()
                        .model("m")
                        .input("Hello")
                        .maxOutputTokens(16)
                        .build());

        assertThat(answer.output()
                        .get(0)
                        .asMessage()
                        .content()
                        .get(0)
                        .asOutputText()
                        .text())
                .isNotEmpty();
    }

    @Test
    void openAi_closedStream_givesTheRequestUp() {
        double before = server.metric("vllm:request_success_total", "reason=\"abort\"");
        var params = ChatCompletionCreateParams.builder()
                .model("m")
                .addUserMessage("Hello")
                .maxCompletionTokens(1900)
                .putAdditionalBodyProperty("ignore_eos", com.openai.core.JsonValue.from(true))
                .build();
        try (StreamResponse<ChatCompletionChunk> stream =
                openAi.chat().completions().createStreaming(params)) {
            assertThat(stream.stream().limit(3)).hasSize(3);
        }

        server.awaitMetric("vllm:request_success_total", "reason=\"abort\"", count -> count == before + 1);
    }

    /** The first call ends when the clock is let go, and not before the second one was turned away. */
    @Test
    void openAi_comesAgainAfterA429() {
        try (var busy = ServedCluster.paused("server { max-in-flight = 1, retry-after = 1s }")) {
            var patient = OpenAIOkHttpClient.builder()
                    .baseUrl(busy.url() + "/v1")
                    .apiKey("any")
                    .maxRetries(5)
                    .build();
            var first = CompletableFuture.supplyAsync(() -> patient.chat()
                    .completions()
                    .create(question().addUserMessage("Hello").build()));
            busy.awaitMetric("understudy_calls_in_flight", "", count -> count == 1);
            var second = CompletableFuture.supplyAsync(() -> patient.chat()
                    .completions()
                    .create(question().addUserMessage("Hello").build()));
            busy.awaitMetric("http_requests_total", "status=\"4xx\"", count -> count > 0);

            busy.resume();

            assertThat(first.join().choices()).hasSize(1);
            assertThat(second.join().choices()).hasSize(1);
            patient.close();
        }
    }

    @Test
    void langChain4j_plainAndConversation() {
        var model = OpenAiChatModel.builder()
                .baseUrl(server.url() + "/v1")
                .apiKey("any")
                .modelName("m")
                .maxCompletionTokens(30)
                .build();
        List<ChatMessage> messages = new ArrayList<>(List.of(UserMessage.from("About langchain. " + LONG)));
        var cached = new ArrayList<Integer>();
        for (int turn = 0; turn < 3; turn++) {
            var answer = model.chat(messages);
            cached.add(((OpenAiTokenUsage) answer.tokenUsage())
                    .inputTokensDetails()
                    .cachedTokens());
            messages.add(answer.aiMessage());
            messages.add(UserMessage.from("And then?"));
        }

        assertThat(cached).isSorted().doesNotHaveDuplicates();
    }

    @Test
    void langChain4j_streaming() throws Exception {
        var model = OpenAiStreamingChatModel.builder()
                .baseUrl(server.url() + "/v1")
                .apiKey("any")
                .modelName("m")
                .maxCompletionTokens(30)
                .build();
        var said = new StringBuilder();
        var complete = new CompletableFuture<ChatResponse>();

        model.chat("Hello", new StreamingChatResponseHandler() {
            @Override
            public void onPartialResponse(String part) {
                said.append(part);
            }

            @Override
            public void onCompleteResponse(ChatResponse response) {
                complete.complete(response);
            }

            @Override
            public void onError(Throwable error) {
                complete.completeExceptionally(error);
            }
        });

        assertThat(complete.get().aiMessage().text()).isEqualTo(said.toString()).isNotEmpty();
        assertThat(complete.get().tokenUsage().outputTokenCount()).isBetween(1, 30);
    }
}
