package understudy.prompt;

import com.dynatrace.hash4j.hashing.Hasher64;
import com.dynatrace.hash4j.hashing.Hashing;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * The fast default: XXH3 with 64 bits over the parent's hash and the block's token ids.
 *
 * <p>It groups blocks exactly as vLLM's hashes do ({@code kv_cache_utils.hash_block_tokens}), but the values differ.
 * LoRA name and cache salt enter through the first block's parent, which reaches every later block.
 *
 * @param blockSize tokens per block, at least 1
 */
public record Xxh3BlockHasher(int blockSize) implements BlockHasher {
    private static final Hasher64 XXH3 = Hashing.xxh3_64();
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INTS = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    private static final int TOKENS_TOGETHER = 1024;

    /** Checks the block size. */
    public Xxh3BlockHasher {
        if (blockSize < 1) {
            throw new IllegalArgumentException("block size must be at least 1: " + blockSize);
        }
    }

    @Override
    public HashChain start(Prompt prompt) {
        return chain(noneHash(prompt));
    }

    @Override
    public HashChain resume(long hash) {
        return chain(hash);
    }

    private Chain chain(long parent) {
        return new Chain(blockSize, parent);
    }

    /** The parent of the first block; the length keeps the two names apart. */
    private static long noneHash(Prompt prompt) {
        if (prompt.loraName().isEmpty() && prompt.cacheSalt().isEmpty()) {
            return 0;
        }
        String extraKeys = prompt.loraName().length() + ":" + prompt.loraName() + prompt.cacheSalt();
        return XXH3.hashBytesToLong(extraKeys.getBytes(StandardCharsets.UTF_8));
    }

    private static final class Chain implements HashChain {
        private final int blockSize;
        private long parent;

        private Chain(int blockSize, long parent) {
            this.blockSize = blockSize;
            this.parent = parent;
        }

        @Override
        public long next(TokenSource tokens, int from, BlockRoom room) {
            return next(room.copy(tokens, from, blockSize), 0, room);
        }

        /** Copies the tokens of many blocks at a time, since finding the first of them takes longer than copying some. */
        @Override
        public void nextAll(TokenSource tokens, int from, int size, long[] into, BlockRoom room) {
            int numTogether = Math.max(1, TOKENS_TOGETHER / blockSize);
            for (int i = 0; i < into.length; i += numTogether) {
                int end = Math.min(i + numTogether, into.length);
                int[] copied = room.copyMany(tokens, from + i * blockSize, (end - i) * blockSize);
                for (int block = i; block < end; block++) {
                    into[block] = next(copied, (block - i) * blockSize, room);
                }
            }
        }

        private long next(int[] tokens, int from, BlockRoom room) {
            byte[] bytes = room.bytes(Long.BYTES + blockSize * Integer.BYTES);
            LONGS.set(bytes, 0, parent);
            int numPaired = blockSize & -2;
            for (int i = 0; i < numPaired; i += 2) {
                long pair = Integer.toUnsignedLong(tokens[from + i]) | (long) tokens[from + i + 1] << Integer.SIZE;
                LONGS.set(bytes, Long.BYTES + i * Integer.BYTES, pair);
            }
            if (numPaired < blockSize) {
                INTS.set(bytes, Long.BYTES + numPaired * Integer.BYTES, tokens[from + numPaired]);
            }
            parent = XXH3.hashBytesToLong(bytes, 0, bytes.length);
            return parent;
        }

        @Override
        public HashChain fork() {
            return new Chain(blockSize, parent);
        }
    }
}
