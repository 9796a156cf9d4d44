package understudy.api.model;

import org.jspecify.annotations.Nullable;
import understudy.prompt.TokenIds;

/** Vocabulary and rules of a tokenizer. Thread-safe. */
interface TokenCodec {

    /** Returns the first {@code most} tokens of a text without broken surrogates, and none around it. */
    int[] first(String text, int most);

    /** Returns the last {@code most} tokens of such a text. */
    int[] last(String text, int most);

    /** Returns the bytes of a token, which need not be whole characters; null if it is unknown. */
    byte @Nullable [] bytes(int token);

    /** Returns whether a token has no text of its own. */
    boolean isSpecial(int token);

    /** Returns one more than the highest token. */
    int size();

    /** Returns the length of the longest token in characters, at least 1. */
    int maxCharsPerToken();

    /** Returns the tokens that stand before the text of a prompt. */
    TokenIds prefix();

    /** Returns the tokens that stand behind it. */
    TokenIds suffix();

    /** Returns the token of a special text, or -1. */
    int special(String text);
}
