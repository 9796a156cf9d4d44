package understudy.api.call;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.ints.IntList;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import understudy.api.http.ApiException;
import understudy.api.http.JsonBody;
import understudy.api.model.TokenFilter;
import understudy.api.model.Tokenizer;

/**
 * Wishes of a call about single tokens (vLLM {@code sampling_params.py}). A bias counts only where it decides: a token of
 * 100 or more is sampled, one of -100 or less never is; there are no logits that less could shift.
 *
 * @param allowed the only tokens to sample, or null for all
 * @param favoured tokens of which one is sampled because of its bias; empty for no such wish
 * @param unwanted tokens that are not sampled because of their bias
 * @param biased all tokens with a bias
 * @param badWords texts that must not come
 * @param reported tokens whose log probabilities are wanted with each sampled token; empty for the most likely ones
 */
public record TokenWishes(
        @Nullable IntList allowed,
        IntList favoured,
        IntList unwanted,
        IntList biased,
        List<String> badWords,
        IntList reported) {
    private static final String LOGIT_BIAS = "logit_bias";
    private static final String ALLOWED = "allowed_token_ids";
    private static final String BAD_WORDS = "bad_words";
    private static final String REPORTED = "logprob_token_ids";
    private static final double DECIDES = 100;
    private static final int MAX_REPORTED = 128;
    private static final int MAX_BAD_WORDS = 128;
    private static final int MAX_BAD_WORD_TOKENS = 1024;
    private static final Pattern INTEGER = Pattern.compile("\\s*[+-]?\\d{1,18}\\s*");

    /** Reads and checks them, as far as that goes without a vocabulary. */
    static TokenWishes read(JsonBody body, int logprobs) {
        var favoured = new IntArrayList();
        var unwanted = new IntArrayList();
        var biased = new IntArrayList();
        readBias(body.object(LOGIT_BIAS), favoured, unwanted, biased);
        var badWords = body.texts(BAD_WORDS);
        if (badWords.contains("")) {
            throw ApiException.badRequest(
                    "bad_words cannot contain an empty string. Got bad_words=" + quoted(badWords), null);
        }
        var allowed = body.get(ALLOWED) == null ? null : IntList.of(body.tokens(ALLOWED));
        return new TokenWishes(allowed, favoured, unwanted, biased, badWords, reported(body, logprobs));
    }

    private static void readBias(JsonBody biases, IntArrayList favoured, IntArrayList unwanted, IntArrayList biased) {
        var invalid = new ArrayList<String>();
        for (var each : biases.node().properties()) {
            Double value = biases.number(each.getKey());
            if (!INTEGER.matcher(each.getKey()).matches()) {
                invalid.add(each.getKey());
            } else {
                long token = Long.parseLong(each.getKey().strip());
                int id = token == (int) token ? (int) token : Integer.MAX_VALUE;
                biased.add(id);
                if (value != null && Math.abs(value) >= DECIDES) {
                    (value > 0 ? favoured : unwanted).add(id);
                }
            }
        }
        if (!invalid.isEmpty()) {
            throw ApiException.parameter(
                    "logit_bias contains key(s) that cannot be converted to integer token IDs: " + quoted(invalid),
                    LOGIT_BIAS,
                    quoted(invalid));
        }
    }

    private static IntList reported(JsonBody body, int logprobs) {
        var reported = IntList.of(body.tokens(REPORTED));
        if (reported.isEmpty()) {
            return reported;
        }
        if (body.bool("use_beam_search", false)) {
            throw ApiException.parameter("`logprob_token_ids` is not supported with beam search.", REPORTED);
        }
        if (logprobs < 0) {
            String wanted = body.get("messages") == null ? "set" : "set to true";
            throw ApiException.parameter(
                    "when using `logprob_token_ids`, `logprobs` must be " + wanted + ".", REPORTED);
        }
        if (reported.size() > MAX_REPORTED) {
            throw ApiException.parameter(
                    "Requested logprob_token_ids of length " + reported.size() + ", which is greater than max allowed: "
                            + MAX_REPORTED,
                    REPORTED,
                    reported.size());
        }
        return reported;
    }

    /** Returns the filter for these wishes, or null if any token will do; refuses tokens that do not exist. */
    public @Nullable TokenFilter filter(Tokenizer tokenizer) {
        requireKnown(biased, LOGIT_BIAS, tokenizer);
        requireKnown(reported, REPORTED, tokenizer);
        requireAllowedKnown(tokenizer);
        var banned = bannedWords(tokenizer);
        unwanted.forEach(token -> banned.add(new int[] {token}));
        var only = favoured.isEmpty() ? allowed : favoured;
        return only == null && banned.isEmpty() ? null : new TokenFilter(only, banned);
    }

    private static void requireKnown(IntList tokens, String field, Tokenizer tokenizer) {
        var unknown = unknown(tokens, tokenizer);
        if (!unknown.isEmpty()) {
            throw ApiException.parameter(
                    "token_id(s) " + unknown + " in " + field + " contain out-of-vocab token ids. Vocabulary size: "
                            + tokenizer.size(),
                    field,
                    unknown);
        }
    }

    private void requireAllowedKnown(Tokenizer tokenizer) {
        if (allowed == null) {
            return;
        }
        if (allowed.isEmpty()) {
            throw ApiException.parameter("allowed_token_ids is not None and empty!", ALLOWED, "[]");
        }
        var unknown = unknown(allowed, tokenizer);
        if (!unknown.isEmpty()) {
            throw ApiException.parameter("allowed_token_ids contains out-of-vocab token id!", ALLOWED, unknown);
        }
    }

    private static IntList unknown(IntList tokens, Tokenizer tokenizer) {
        var unknown = new IntArrayList();
        tokens.forEach(token -> {
            if (token < 0 || token >= tokenizer.size()) {
                unknown.add(token);
            }
        });
        return unknown;
    }

    /** Returns the tokens of each word, as at the beginning of a text and within it. */
    private List<int[]> bannedWords(Tokenizer tokenizer) {
        var banned = new ArrayList<int[]>();
        int numTokens = 0;
        for (String word : badWords.stream().distinct().toList()) {
            int[] first = tokenizer.encode(word.stripLeading());
            int[] spaced = tokenizer.encode(" " + word.stripLeading());
            numTokens += add(first, banned);
            boolean isOther = spaced.length == first.length && spaced.length > 0 && spaced[0] != first[0];
            numTokens += isOther ? add(spaced, banned) : 0;
            if (numTokens > MAX_BAD_WORD_TOKENS) {
                throw ApiException.badRequest(
                        "Too many total bad word tokens: " + numTokens + ". The max is " + MAX_BAD_WORD_TOKENS + ".",
                        null);
            }
        }
        return banned;
    }

    private int add(int[] tokens, List<int[]> banned) {
        if (tokens.length == 0) {
            return 0;
        }
        banned.add(tokens);
        if (banned.size() > MAX_BAD_WORDS) {
            throw ApiException.parameter(
                    "Too many bad words after tokenization: " + banned.size() + ". The max number is " + MAX_BAD_WORDS
                            + ".",
                    BAD_WORDS,
                    quoted(badWords));
        }
        return tokens.length;
    }

    /** Returns texts as Python writes a list of them. */
    private static String quoted(List<String> texts) {
        return texts.stream().map(text -> "'" + text + "'").collect(Collectors.joining(", ", "[", "]"));
    }
}
