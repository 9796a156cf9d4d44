package understudy.prompt;

import it.unimi.dsi.fastutil.HashCommon;

/** Numbers for pieces of synthetic text, kept apart by purpose. */
public final class Segments {
    private static final int SHIFT = 56;

    private Segments() {}

    /** A block that a trace names by a number. */
    public static long ofTraceBlock(long blockId) {
        return blockId;
    }

    /** The part of a prompt that only one text has. */
    public static long ofUniqueText(long textId) {
        return textId ^ (1L << SHIFT);
    }

    /** The model's answer to a text. */
    public static long ofAnswer(long textId) {
        return textId ^ (2L << SHIFT);
    }

    /** The replacement of a conversation that was rewritten before a text. */
    public static long ofRewrittenHistory(long textId) {
        return textId ^ (4L << SHIFT);
    }

    /** The prefix that the requests of a group share. */
    public static long ofSharedPrefix(long group) {
        return group ^ (3L << SHIFT);
    }

    /** The text behind such a prefix, if it comes again, too. */
    public static long ofSharedText(long textId) {
        return textId ^ (5L << SHIFT);
    }

    /**
     * A block that a session names by a number of its own.
     *
     * @param session number of the session, which keeps its blocks apart from those of others
     */
    public static long ofSessionBlock(long session, long blockId) {
        return HashCommon.murmurHash3(session ^ (6L << SHIFT)) + blockId;
    }
}
