package understudy.prompt;

import org.jspecify.annotations.Nullable;

/** Hashes as another one does, and counts the blocks. */
public final class CountingHasher implements BlockHasher {
    private final BlockHasher hasher;
    private int numHashed;

    /** Counts what this one hashes. */
    public CountingHasher(BlockHasher hasher) {
        this.hasher = hasher;
    }

    /** Returns how many blocks have been hashed. */
    public int numHashed() {
        return numHashed;
    }

    @Override
    public int blockSize() {
        return hasher.blockSize();
    }

    @Override
    public HashChain start(Prompt prompt) {
        return new CountingChain(hasher.start(prompt));
    }

    @Override
    public @Nullable HashChain resume(long hash) {
        var chain = hasher.resume(hash);
        return chain == null ? null : new CountingChain(chain);
    }

    private final class CountingChain implements HashChain {
        private final HashChain chain;

        CountingChain(HashChain chain) {
            this.chain = chain;
        }

        @Override
        public long next(TokenSource tokens, int from, BlockRoom room) {
            numHashed++;
            return chain.next(tokens, from, room);
        }

        @Override
        public HashChain fork() {
            return new CountingChain(chain.fork());
        }
    }
}
