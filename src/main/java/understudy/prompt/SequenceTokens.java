package understudy.prompt;

/**
 * Tokens of a request: those of its prompt, and behind them those of its answer. Immutable; who reads must know how
 * much of the answer there is.
 */
public record SequenceTokens(TokenSequence prompt, TokenSource output) implements TokenSource {

    @Override
    public int tokenAt(int index) {
        int promptLength = prompt.length();
        return index < promptLength ? prompt.tokenAt(index) : output.tokenAt(index - promptLength);
    }

    @Override
    public void copy(int from, int count, int[] into, int at) {
        int numFromPrompt = Math.max(0, Math.min(count, prompt.length() - from));
        if (numFromPrompt > 0) {
            prompt.copy(from, numFromPrompt, into, at);
        }
        if (count > numFromPrompt) {
            output.copy(from + numFromPrompt - prompt.length(), count - numFromPrompt, into, at + numFromPrompt);
        }
    }
}
