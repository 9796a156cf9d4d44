package understudy.api.model;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.api.media.Placeholder;
import understudy.prompt.TokenIds;

/** Text of a prompt before its encoding: parts that are encoded by themselves, and parts that are encoded already. */
public final class PromptText {
    private final List<Part> parts = new ArrayList<>();
    private long numChars;

    private record Part(
            String text, @Nullable TokenIds known, @Nullable Placeholder media) {
        int[] first(Tokenizer tokenizer, int most) {
            if (media != null) {
                return ids(tokenizer, media, 0, Math.min(most, media.numTokens()));
            }
            return known == null ? tokenizer.encode(text, most) : known.toArray();
        }

        int[] last(Tokenizer tokenizer, int most) {
            if (media != null) {
                int count = Math.min(most, media.numTokens());
                return ids(tokenizer, media, media.numTokens() - count, count);
            }
            return known == null ? tokenizer.encodeEnd(text, most) : known.toArray();
        }

        private static int[] ids(Tokenizer tokenizer, Placeholder media, int from, int count) {
            return media.ids(from, count, tokenizer.size(), tokenizer::isSpecial);
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
        parts.add(new Part(text, null, null));
        numChars += text.length();
    }

    /** Adds a part whose tokens are known. */
    public void addKnown(String text, TokenIds tokens) {
        parts.add(new Part(text, tokens, null));
        numChars += text.length();
    }

    /** Returns the prompt with the tokens of media in place of their marks. */
    PromptText withMedia() {
        boolean hasMedia = parts.stream().anyMatch(part -> part.known == null && Placeholder.mayBeIn(part.text));
        if (!hasMedia) {
            return this;
        }
        var prompt = new PromptText();
        for (var part : parts) {
            if (part.known == null) {
                prompt.addMarked(part.text);
            } else {
                prompt.addKnown(part.text, part.known);
            }
        }
        return prompt;
    }

    private void addMarked(String text) {
        int end = 0;
        for (var mark = Placeholder.MARK.matcher(text); mark.find(); end = mark.end()) {
            if (mark.start() > end) {
                add(text.substring(end, mark.start()));
            }
            parts.add(new Part("", null, Placeholder.of(mark.group(1), mark.group(2))));
        }
        if (end < text.length()) {
            add(text.substring(end));
        }
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
