package understudy.workload.trace;

import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Function;
import org.apache.commons.rng.sampling.ListSampler;
import org.jspecify.annotations.Nullable;
import understudy.engine.Request;
import understudy.json.Jackson;
import understudy.prompt.Prompt;
import understudy.prompt.TokenIds;
import understudy.workload.Arrivals;
import understudy.workload.Gaps;
import understudy.workload.OutputLimit;
import understudy.workload.RandomStreams;
import understudy.workload.RequestRate;
import understudy.workload.Workload;
import understudy.workload.files.TraceException;
import understudy.workload.files.TraceFile;

/**
 * Questions and answers of a file of chats, as {@code vllm bench serve --dataset-name sharegpt} takes them: the first
 * two turns of each chat, in a shuffled order, without those that are very short or long. When all were taken, they come
 * again.
 */
public final class ShareGptWorkload implements Workload {
    private static final ObjectMapper JSON = Jackson.mapper();
    private static final int MIN_TOKENS = 4;
    private static final int MAX_PROMPT_TOKENS = 1024;
    private static final int MAX_TOKENS = 2048;

    private final Options options;
    private final Function<String, int[]> tokenizer;
    private final Arrivals arrivals;
    private final String file;
    private final List<Chat> chats;
    private long numChatsTaken;
    private long numRequests;

    /**
     * Options of a data set of chats.
     *
     * @param numRequests at least 1
     * @param rate rate of arrivals
     * @param gaps between arrivals
     * @param outputLength tokens of each answer, or 0 for as many as the file's answer has
     * @param outputLimit how answers end
     * @param maxModelLen longest sequence in tokens
     */
    public record Options(
            long numRequests,
            RequestRate rate,
            Gaps gaps,
            int outputLength,
            OutputLimit outputLimit,
            int maxModelLen) {}

    private record Chat(String question, String answer) {}

    /**
     * Reads all chats of a file.
     *
     * @param tokenizer gives the token ids of a text
     * @throws TraceException if the file is not a JSON list of chats, or has none that can be used
     */
    public ShareGptWorkload(Path file, Options options, Function<String, int[]> tokenizer, RandomStreams streams) {
        this.file = file.toString();
        this.options = options;
        this.tokenizer = tokenizer;
        arrivals = Arrivals.create(options.rate, options.gaps, streams, options::numRequests);
        chats = read(file);
        ListSampler.shuffle(streams.stream("chats"), chats);
    }

    private static List<Chat> read(Path file) {
        try (var parser = JSON.createParser(TraceFile.open(file))) {
            var chats = new ArrayList<Chat>();
            if (parser.nextToken() != JsonToken.START_ARRAY) {
                throw new TraceException(file.toString(), "not a JSON list of chats");
            }
            while (parser.nextToken() == JsonToken.START_OBJECT) {
                JsonNode turns = parser.<JsonNode>readValueAsTree().path("conversations");
                if (turns.size() >= 2) {
                    chats.add(new Chat(text(turns.get(0)), text(turns.get(1))));
                }
            }
            return chats;
        } catch (IOException e) {
            throw TraceFile.unreadable(file.toString(), e);
        }
    }

    private static String text(JsonNode turn) {
        return turn.path("value").asText();
    }

    @Override
    public @Nullable Request next() {
        if (numRequests == options.numRequests) {
            return null;
        }
        for (int i = 0; i < chats.size(); i++) {
            var chat = chats.get((int) (numChatsTaken++ % chats.size()));
            var prompt = new TokenIds(tokenizer.apply(chat.question));
            int numOutput = options.outputLength > 0 ? options.outputLength : tokenizer.apply(chat.answer).length;
            if (isUsable(prompt.length(), numOutput)) {
                return request(prompt, numOutput);
            }
        }
        throw new TraceException(
                file,
                "no chat has two turns of " + MIN_TOKENS + " tokens or more and at most " + MAX_TOKENS + " in all");
    }

    private boolean isUsable(int numPrompt, int numOutput) {
        return numPrompt >= MIN_TOKENS
                && (options.outputLength > 0 || numOutput >= MIN_TOKENS)
                && numPrompt <= MAX_PROMPT_TOKENS
                && numPrompt + numOutput <= MAX_TOKENS;
    }

    private Request request(TokenIds prompt, int numOutput) {
        long id = numRequests++;
        return Request.of(
                id,
                arrivals.nextNanos(),
                new Prompt(prompt),
                options.outputLimit.maxTokens(numOutput, prompt.length(), options.maxModelLen),
                options.outputLimit.plan(id, numOutput));
    }

    /** No request follows an answer. */
    @Override
    public @Nullable Request followUp(Request request, int numOutputTokens, long atNanos) {
        return null;
    }

    @Override
    public OptionalLong total() {
        return OptionalLong.of(options.numRequests);
    }

    @Override
    public long numPlanned() {
        return numRequests;
    }

    @Override
    public long numAbandoned() {
        return 0;
    }

    @Override
    public void close() {}
}
