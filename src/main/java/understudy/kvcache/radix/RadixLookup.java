package understudy.kvcache.radix;

import understudy.prompt.Prompt;
import understudy.prompt.SequenceTokens;
import understudy.prompt.TokenSource;

/**
 * Content of a request, as the memory needs it.
 *
 * @param handle small number that names the request
 * @param prompt the request's prompt
 * @param tokens those of the prompt, and behind them those of the answer
 * @param extraKey name of the space in which its prefixes are found, or empty (SGLang {@code extra_key})
 * @param priority that its nodes get, 0 if the request has none
 */
public record RadixLookup(int handle, Prompt prompt, TokenSource tokens, String extraKey, long priority) {

    /** Returns the content of a request with its answer so far. */
    public static RadixLookup of(int handle, Prompt prompt, TokenSource answer, long priority) {
        return new RadixLookup(handle, prompt, new SequenceTokens(prompt.tokens(), answer), extraKey(prompt), priority);
    }

    /** Returns the adapter's name and the salt as one key; the length keeps them apart. */
    private static String extraKey(Prompt prompt) {
        return prompt.loraName().isEmpty()
                ? prompt.cacheSalt()
                : prompt.loraName().length() + ":" + prompt.loraName() + prompt.cacheSalt();
    }
}
