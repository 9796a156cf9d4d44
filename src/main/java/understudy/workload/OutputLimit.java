package understudy.workload;

import understudy.engine.OutputPlan;
import understudy.prompt.Segments;
import understudy.prompt.SyntheticTokens;
import understudy.prompt.TokenSource;

/** Limit that ends an answer. */
public enum OutputLimit {
    /** As {@code vllm bench serve} does it: {@code max_tokens} is the length, and {@code ignore_eos} is set. */
    MAX_TOKENS,
    /** As in production: the model ends the answer by itself, and {@code max_tokens} is whatever the context leaves. */
    END_OF_SEQUENCE;

    public OutputPlan plan(long textId, int numOutputTokens) {
        return plan(new SyntheticTokens(Segments.ofAnswer(textId)), numOutputTokens);
    }

    /** Returns the plan of an answer with these tokens. */
    public OutputPlan plan(TokenSource tokens, int numOutputTokens) {
        return new OutputPlan(tokens, this == MAX_TOKENS ? OutputPlan.ENDLESS : numOutputTokens);
    }

    /** Returns the limit of a request that came with one, or with 0 for none. */
    public int maxTokens(int numOutputTokens, int numPromptTokens, int given, int maxModelLen) {
        int limit = maxTokens(numOutputTokens, numPromptTokens, maxModelLen);
        return given == 0 || this == MAX_TOKENS ? limit : Math.min(given, limit);
    }

    public int maxTokens(int numOutputTokens, int numPromptTokens, int maxModelLen) {
        return this == MAX_TOKENS ? numOutputTokens : Math.max(1, maxModelLen - numPromptTokens);
    }
}
