package understudy.api.live;

/** Tokens per virtual second, over the last sampling interval. */
final class TokenRates {
    private long numPromptTokens;
    private long numOutputTokens;
    private long sinceNanos;
    private double promptTokensPerSecond;
    private double outputTokensPerSecond;

    void add(long numPrompt, long numOutput) {
        numPromptTokens += numPrompt;
        numOutputTokens += numOutput;
    }

    /** Ends an interval; one in which no time has passed goes on. */
    void sample(long nowNanos) {
        if (nowNanos > sinceNanos) {
            double seconds = (nowNanos - sinceNanos) / 1e9;
            promptTokensPerSecond = numPromptTokens / seconds;
            outputTokensPerSecond = numOutputTokens / seconds;
            numPromptTokens = 0;
            numOutputTokens = 0;
            sinceNanos = nowNanos;
        }
    }

    double promptTokensPerSecond() {
        return promptTokensPerSecond;
    }

    double outputTokensPerSecond() {
        return outputTokensPerSecond;
    }
}
