package understudy.api.model;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.prompt.TokenIds;

/** Text of a prompt before its encoding: parts that are encoded by themselves, and parts that are encoded already. */
public final class PromptText {
    private final List<Part> parts = new ArrayList<>();
    private long numChars;

    private record Part(String text, @Nullable TokenIds known) {
        int[] first(Tokenizer tokenizer, int most) {
            return known == null ? tokenizer.encode(text, most) : known.toArray();
        }

        int[] last(Tokenizer tokenizer, int most) {
            return known == null ? tokenizer.encodeEnd(text, most) : known.toArray();
        }
    }

    /** Returns a prompt of one part. */
    public static PromptText of(String text) {
        var prompt = new PromptText();
        prompt.add(text);
        return prompt;
    }

    /** Returns the prompt of a text, and of the tokens that the model's prompts begin and end with. */
    public static PromptText between(Tokenizer tokenizer, String text) {
        var prompt = new PromptText();
        prompt.addKnown("", tokenizer.prefix());
        prompt.add(text);
        prompt.addKnown("", tokenizer.suffix());
        return prompt;
    }

    public void add(String text) {
        parts.add(new Part(text, null));
        numChars += text.length();
    }

    /** Adds a part whose tokens are known. */
    public void addKnown(String text, TokenIds tokens) {
        parts.add(new Part(text, tokens));
        numChars += text.length();
    }

    public long numChars() {
        return numChars;
    }

    /** Returns the first {@code most} tokens; no part behind them is encoded. */
    public int[] encode(Tokenizer tokenizer, int most) {
        var tokens = new IntArrayList();
        for (int i = 0; i < parts.size() && tokens.size() < most; i++) {
            tokens.addElements(tokens.size(), parts.get(i).first(tokenizer, most - tokens.size()));
        }
        tokens.size(Math.min(most, tokens.size()));
        return tokens.toIntArray();
    }

    /** Returns the last {@code most} tokens; no part before them is encoded. */
    public int[] encodeEnd(Tokenizer tokenizer, int most) {
        var lastFirst = new ArrayList<int[]>();
        int missing = most;
        for (int i = parts.size() - 1; i >= 0 && missing > 0; i--) {
            int[] part = parts.get(i).last(tokenizer, missing);
            lastFirst.add(part);
            missing -= part.length;
        }
        Collections.reverse(lastFirst);
        var tokens = new IntArrayList();
        lastFirst.forEach(part -> tokens.addElements(tokens.size(), part));
        tokens.removeElements(0, Math.max(0, tokens.size() - most));
        return tokens.toIntArray();
    }
}
