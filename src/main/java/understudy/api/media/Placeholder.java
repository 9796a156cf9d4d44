package understudy.api.media;

import it.unimi.dsi.fastutil.HashCommon;
import java.util.function.IntPredicate;
import java.util.regex.Pattern;

/**
 * Tokens of a picture, or of other media, in a prompt. Their ids are drawn from the content, so that equal pictures hit
 * the prefix cache and others do not; vLLM gets there by hashes beside the tokens. Until the prompt is encoded, they are
 * written as a mark in the text. A client that writes such a mark itself gets no more than tokens.
 *
 * @param numTokens at least 1
 * @param hash of the content
 */
public record Placeholder(int numTokens, long hash) {
    /** Mark in a text; its edges are code points that stand for no character. */
    public static final Pattern MARK = Pattern.compile("\uFDD0([1-9][0-9]{0,8})_([0-9a-f]{16})\uFDD1");

    /** Returns the mark. */
    public String mark() {
        return String.format("\uFDD0%d_%016x\uFDD1", numTokens, hash);
    }

    /** Returns whether a text may have marks. */
    public static boolean mayBeIn(String text) {
        return text.indexOf('\uFDD0') >= 0;
    }

    /** Returns a text without its marks. */
    public static String removeFrom(String text) {
        return mayBeIn(text) ? MARK.matcher(text).replaceAll("").strip() : text;
    }

    /** Returns the placeholder of a mark that a matcher has found. */
    public static Placeholder of(String numTokens, String hash) {
        return new Placeholder(Integer.parseInt(numTokens), Long.parseUnsignedLong(hash, 16));
    }

    /**
     * Returns some of the ids.
     *
     * @param vocabularySize ids are below this
     * @param isSpecial whether an id has a meaning of its own, and must not stand here
     */
    public int[] ids(int from, int count, int vocabularySize, IntPredicate isSpecial) {
        var ids = new int[count];
        for (int i = 0; i < count; i++) {
            long draw = HashCommon.murmurHash3(hash + from + i);
            int id = Math.floorMod(draw, vocabularySize);
            while (isSpecial.test(id)) {
                draw = HashCommon.murmurHash3(draw + 1);
                id = Math.floorMod(draw, vocabularySize);
            }
            ids[i] = id;
        }
        return ids;
    }
}
