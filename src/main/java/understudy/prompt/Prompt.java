package understudy.prompt;

import org.jspecify.annotations.Nullable;

/**
 * Prompt of a request: its tokens, and all else that keeps its blocks apart from others with the same tokens.
 *
 * <p>Immutable, and safe in any thread. Its block hashes are made on first use, and kept for the next use with an equal
 * hasher, as a string keeps its hash code: router and replica need the same ones.
 */
public final class Prompt {
    private final TokenSequence tokens;
    private final String loraName;
    private final String cacheSalt;
    private final SessionTurn turn;
    private @Nullable BlockHashes hashes;

    /**
     * Creates a prompt.
     *
     * @param tokens at least one token
     * @param loraName the LoRA adapter's name, or empty for the base model
     * @param cacheSalt keeps this prompt's blocks from those with another salt, or empty
     * @param turn the place in a conversation
     */
    public Prompt(TokenSequence tokens, String loraName, String cacheSalt, SessionTurn turn) {
        if (tokens.length() < 1) {
            throw new IllegalArgumentException("a prompt needs at least one token");
        }
        this.tokens = tokens;
        this.loraName = loraName;
        this.cacheSalt = cacheSalt;
        this.turn = turn;
    }

    /** Creates a prompt that belongs to no conversation. */
    public Prompt(TokenSequence tokens, String loraName, String cacheSalt) {
        this(tokens, loraName, cacheSalt, SessionTurn.NONE);
    }

    /** Creates a prompt for the base model, without a salt. */
    public Prompt(TokenSequence tokens) {
        this(tokens, SessionTurn.NONE);
    }

    /** Creates a prompt for the base model, without a salt, as a turn of a conversation. */
    public Prompt(TokenSequence tokens, SessionTurn turn) {
        this(tokens, "", "", turn);
    }

    /** Returns the number of tokens, at least 1. */
    public int length() {
        return tokens.length();
    }

    public TokenSequence tokens() {
        return tokens;
    }

    public String loraName() {
        return loraName;
    }

    /** Returns the same prompt for another LoRA adapter, or with an empty name for the base model. */
    public Prompt withLora(String otherName) {
        return new Prompt(tokens, otherName, cacheSalt, turn);
    }

    public String cacheSalt() {
        return cacheSalt;
    }

    public SessionTurn turn() {
        return turn;
    }

    /** Returns whether blocks of this prompt are good for another one, as far as the tokens are the same. */
    public boolean sharesBlocksWith(Prompt other) {
        return loraName.equals(other.loraName) && cacheSalt.equals(other.cacheSalt);
    }

    /** Returns this prompt without its first {@code count} tokens, fewer than it has. */
    public Prompt withoutFirst(int count) {
        return new Prompt(new TokenSuffix(tokens, count), loraName, cacheSalt, turn.truncatedBy(count));
    }

    /** Returns this prompt followed by the first {@code count} tokens of an answer. */
    public Prompt followedBy(TokenSource answer, int count) {
        return new Prompt(
                new TokenPrefix(new SequenceTokens(tokens, answer), length() + count), loraName, cacheSalt, turn);
    }

    /** Returns the hashes of all full blocks, in order. Callers may share the array and must not change it. */
    public long[] blockHashes(BlockHasher hasher) {
        return hashPath(hasher).toArray();
    }

    /** Returns the same hashes as a path. */
    public HashPath hashPath(BlockHasher hasher) {
        return hashedBy(hasher).path();
    }

    /** Returns a chain that stands behind the last full block. */
    public HashChain chainEnd(BlockHasher hasher) {
        return hashedBy(hasher).chainEnd();
    }

    private BlockHashes hashedBy(BlockHasher hasher) {
        var known = hashes;
        if (known == null || !known.areFor(this, hasher)) {
            known = tokens instanceof SegmentedTokens pieces
                    ? pieces.blockHashes(this, hasher)
                    : BlockHashes.of(hasher, this, tokens);
            hashes = known;
        }
        return known;
    }
}
