package understudy.fidelity.probe;

import it.unimi.dsi.fastutil.HashCommon;
import understudy.prompt.Prompt;
import understudy.prompt.SegmentedTokens;
import understudy.prompt.Segments;

/** Prompts of random words. With another seed they have nothing in common, so that no run finds those of another cached. */
final class ProbePrompts {
    private static final int NUM_PREFIXES = 1 << 20;

    private final long firstText;
    private int numTexts = NUM_PREFIXES;

    ProbePrompts(long seed) {
        firstText = HashCommon.murmurHash3(seed) >>> 16;
    }

    /** Returns a prompt that nothing before it shares a beginning with. */
    Prompt cold(int numWords) {
        return new Prompt(SegmentedTokens.EMPTY.append(nextText(), numWords));
    }

    /** Returns the prefix of that length: always the same. */
    Prompt prefix(int numWords) {
        return new Prompt(prefixTokens(numWords));
    }

    /** Returns the prefix of a length, and words behind it that no other prompt has. */
    Prompt behindPrefix(int numPrefixWords, int numWords) {
        return new Prompt(prefixTokens(numPrefixWords).append(nextText(), numWords));
    }

    /** A prefix is a text of its own, so that it does not begin as a longer one does. */
    private SegmentedTokens prefixTokens(int numWords) {
        return SegmentedTokens.EMPTY.append(Segments.ofUniqueText(firstText + numWords), numWords);
    }

    private long nextText() {
        return Segments.ofUniqueText(firstText + numTexts++);
    }
}
