package understudy.api.openai;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import it.unimi.dsi.fastutil.HashCommon;
import it.unimi.dsi.fastutil.ints.IntList;
import understudy.api.call.Generation;
import understudy.api.http.Json;
import understudy.api.model.Tokenizer;
import understudy.prompt.TokenSequence;

/**
 * Made-up log probabilities: there is no model that could have real ones. They are a pure function of token and
 * position, negative, and the sampled token always has the largest.
 *
 * @param numAlternatives other tokens to name with each token, at least 0
 * @param reported the tokens to name in place of those, or none
 * @param namesById whether tokens are named by their ids, and not by their texts
 */
public record Logprobs(Tokenizer tokenizer, int numAlternatives, IntList reported, boolean namesById) {
    /** Returns the field {@code logprobs} of a chat choice, for the tokens of a piece. */
    public ObjectNode ofChat(Generation generation, int from, int to) {
        var logprobs = Json.object();
        var content = logprobs.putArray("content");
        for (int i = from; i < to; i++) {
            int token = generation.tokenAt(i);
            var entry = content.addObject();
            describe(entry, token, of(token, i));
            var top = entry.putArray("top_logprobs");
            for (int rank = 0; rank < numNamed(); rank++) {
                int alternative = named(token, i, rank);
                describe(top.addObject(), alternative, of(token, i, alternative, rank));
            }
        }
        return logprobs;
    }

    /** Returns the field {@code logprobs} of an answer in token ids, for the tokens of a piece. */
    ObjectNode ofTokens(Generation generation, int from, int to) {
        var logprobs = Json.object();
        var content = logprobs.putArray("content");
        for (int i = from; i < to; i++) {
            int token = generation.tokenAt(i);
            var entry = content.addObject()
                    .put("token_id", token)
                    .put("logprob", of(token, i))
                    .put("rank", 1);
            var top = entry.putArray("top_logprobs");
            for (int rank = 0; rank < numAlternatives; rank++) {
                top.addObject()
                        .put("token_id", alternative(token, i, rank))
                        .put("logprob", of(token, i) - rank)
                        .put("rank", rank + 1);
            }
        }
        return logprobs;
    }

    /**
     * Returns the field {@code logprobs} of a completion choice, for the tokens of a piece.
     *
     * @param echoed tokens of the prompt that the piece repeats before its own; the first of them has no probability,
     *     since no token came before it
     * @param textOffset offset in characters of the piece's text
     */
    public ObjectNode ofCompletion(TokenSequence echoed, Generation generation, int from, int to, int textOffset) {
        var lists = new CompletionLists(textOffset);
        for (int i = 0; i < echoed.length(); i++) {
            lists.add(echoed.tokenAt(i), i, i > 0);
        }
        for (int i = from; i < to; i++) {
            lists.add(generation.tokenAt(i), i, true);
        }
        return lists.logprobs;
    }

    /** The parallel lists of a completion. */
    private final class CompletionLists {
        private final ObjectNode logprobs = Json.object();
        private final ArrayNode offsets = logprobs.putArray("text_offset");
        private final ArrayNode values = logprobs.putArray("token_logprobs");
        private final ArrayNode tokens = logprobs.putArray("tokens");
        private final ArrayNode tops = logprobs.putArray("top_logprobs");
        private int offset;

        CompletionLists(int textOffset) {
            offset = textOffset;
        }

        void add(int token, int index, boolean hasLogprob) {
            String text = name(token);
            offsets.add(offset);
            tokens.add(text);
            offset += text.length();
            if (hasLogprob) {
                values.add(of(token, index));
                addTop(tops, token, index);
            } else {
                values.addNull();
                tops.addNull();
            }
        }
    }

    /** Returns the field {@code prompt_logprobs}: null for the first token, then one object per token. */
    ArrayNode ofPrompt(TokenSequence prompt) {
        var logprobs = Json.array().addNull();
        for (int i = 1; i < prompt.length(); i++) {
            int token = prompt.tokenAt(i);
            logprobs.addObject()
                    .putObject(String.valueOf(token))
                    .put("logprob", of(token, i))
                    .put("rank", 1)
                    .put("decoded_token", tokenizer.decode(token));
        }
        return logprobs;
    }

    /**
     * Adds the most likely tokens, and the sampled one: as that is the most likely, it is among them if there are any.
     */
    private void addTop(ArrayNode tops, int token, int index) {
        var top = tops.addObject();
        if (numNamed() == 0 || !reported.isEmpty()) {
            top.put(name(token), of(token, index));
        }
        for (int rank = 0; rank < numNamed(); rank++) {
            int alternative = named(token, index, rank);
            top.put(name(alternative), of(token, index, alternative, rank));
        }
    }

    private int numNamed() {
        return reported.isEmpty() ? numAlternatives : reported.size();
    }

    private int named(int token, int index, int rank) {
        return reported.isEmpty() ? alternative(token, index, rank) : reported.getInt(rank);
    }

    private String name(int token) {
        return namesById ? "token_id:" + token : tokenizer.decode(token);
    }

    private void describe(ObjectNode entry, int token, double logprob) {
        entry.put("token", name(token)).put("logprob", logprob);
        var bytes = entry.putArray("bytes");
        for (var rest = tokenizer.text(token).bytes().duplicate(); rest.hasRemaining(); ) {
            bytes.add(rest.get() & 0xFF);
        }
    }

    /** Returns the log probability of a token that was sampled. */
    public static double of(int token, int index) {
        return -((HashCommon.mix(token * 31 + index) & 0x3FF) + 1) / 1024.0;
    }

    /** Returns the log probability of a token where another one was sampled; a token asked for has one of its own. */
    private double of(int sampled, int index, int token, int rank) {
        if (token == sampled) {
            return of(sampled, index);
        }
        return reported.isEmpty() ? of(sampled, index) - rank : of(sampled, index) - 1 + of(token, index);
    }

    /** Returns the token of a rank where another one was sampled, which has rank 0. */
    public static int alternative(int token, int index, int rank) {
        return rank == 0 ? token : (HashCommon.mix(token + 31 * (index + rank)) & 0x7FFF) + 256;
    }
}
