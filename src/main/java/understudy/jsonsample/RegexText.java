package understudy.jsonsample;

import org.apache.commons.rng.UniformRandomProvider;

/** Makes up texts that a regular expression matches as a whole. */
public final class RegexText {
    public static final int MAX_LENGTH = 1024;
    private static final int NUM_TRIES = 16;

    private final RegexNode root;

    /** Reads an expression; throws {@link IllegalArgumentException} if texts for it cannot be made up here. */
    public RegexText(String pattern) {
        root = RegexParser.parse(pattern);
        if (root.minLength() > MAX_LENGTH) {
            throw new IllegalArgumentException("its texts have more than " + MAX_LENGTH + " characters");
        }
    }

    /** Returns a text of so many characters, or one that is as near to that as a few tries have come. */
    public String sample(UniformRandomProvider random, int minLength, int maxLength) {
        var out = new StringBuilder();
        for (int i = 0; i < NUM_TRIES; i++) {
            out.setLength(0);
            root.write(new RegexNode.Range(minLength, Math.min(MAX_LENGTH, maxLength)), 0, random, out);
            if (out.length() >= minLength && out.length() <= maxLength) {
                break;
            }
        }
        return out.toString();
    }
}
