package understudy.prompt;

import com.dynatrace.hash4j.hashing.Hashing;
import com.fasterxml.jackson.dataformat.cbor.CBORFactory;
import com.fasterxml.jackson.dataformat.cbor.CBORGenerator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * vLLM's portable block hashes, bit for bit: a digest of the canonical CBOR of {@code [parent digest, token ids, extra
 * keys]} ({@code vllm/utils/hashing.py}, {@code kv_cache_utils.hash_block_tokens}). The extra keys are null, or the
 * LoRA name for every block and the cache salt for the first one.
 *
 * <p>It is some ten times as slow as {@link Xxh3BlockHasher}, and for those who compare hashes with a real vLLM.
 */
public final class CborBlockHasher implements BlockHasher {
    private static final CBORFactory CBOR = new CBORFactory();

    private final Algorithm algorithm;
    private final int blockSize;
    private final byte[] noneHash;

    /** The digests that vLLM offers over CBOR. */
    public enum Algorithm {
        /** SHA-256, 32 bytes. */
        SHA256_CBOR,
        /** XXH3 with 128 bits, 16 bytes. */
        XXHASH_CBOR;

        private byte[] digest(byte[] data) {
            return this == SHA256_CBOR ? sha256(data) : xxh3(data);
        }

        private static byte[] sha256(byte[] data) {
            try {
                return MessageDigest.getInstance("SHA-256").digest(data);
            } catch (NoSuchAlgorithmException e) {
                throw new IllegalStateException("every Java platform has SHA-256", e);
            }
        }

        private static byte[] xxh3(byte[] data) {
            var value = Hashing.xxh3_128().hashBytesTo128Bits(data);
            return ByteBuffer.allocate(2 * Long.BYTES)
                    .putLong(value.getMostSignificantBits())
                    .putLong(value.getLeastSignificantBits())
                    .array();
        }
    }

    /**
     * Creates a hasher.
     *
     * @param blockSize tokens per block, at least 1
     * @param seed text that the parent of first blocks is made of; vLLM takes it from {@code PYTHONHASHSEED}
     */
    public CborBlockHasher(Algorithm algorithm, int blockSize, String seed) {
        if (blockSize < 1) {
            throw new IllegalArgumentException("block size must be at least 1: " + blockSize);
        }
        this.algorithm = algorithm;
        this.blockSize = blockSize;
        noneHash = algorithm.digest(encode(cbor -> cbor.writeString(seed)));
    }

    @Override
    public int blockSize() {
        return blockSize;
    }

    @Override
    public HashChain start(Prompt prompt) {
        return new Chain(prompt.loraName(), prompt.cacheSalt(), noneHash);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof CborBlockHasher hasher
                && algorithm == hasher.algorithm
                && blockSize == hasher.blockSize
                && Arrays.equals(noneHash, hasher.noneHash);
    }

    @Override
    public int hashCode() {
        return Objects.hash(algorithm, blockSize, Arrays.hashCode(noneHash));
    }

    /** Returns the digest that stands for the parent of a first block. */
    byte[] noneHash() {
        return noneHash.clone();
    }

    byte[] digest(byte[] parent, int[] tokens, String... extraKeys) {
        return algorithm.digest(encode(cbor -> writeBlock(cbor, parent, tokens, extraKeys)));
    }

    private static void writeBlock(CBORGenerator cbor, byte[] parent, int[] tokens, String[] extraKeys)
            throws IOException {
        cbor.writeStartArray(null, 3);
        cbor.writeBinary(parent);
        cbor.writeStartArray(null, tokens.length);
        for (int token : tokens) {
            cbor.writeNumber(token);
        }
        cbor.writeEndArray();
        if (extraKeys.length == 0) {
            cbor.writeNull();
        } else {
            cbor.writeStartArray(null, extraKeys.length);
            for (String key : extraKeys) {
                cbor.writeString(key);
            }
            cbor.writeEndArray();
        }
        cbor.writeEndArray();
    }

    /** Writes one CBOR value. */
    private interface Encoding {
        void write(CBORGenerator cbor) throws IOException;
    }

    private static byte[] encode(Encoding encoding) {
        var bytes = new ByteArrayOutputStream(128);
        try (var cbor = CBOR.createGenerator(bytes)) {
            encoding.write(cbor);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    private final class Chain implements HashChain {
        private final String loraName;
        private final String cacheSalt;
        private byte[] parent;

        private Chain(String loraName, String cacheSalt, byte[] parent) {
            this.loraName = loraName;
            this.cacheSalt = cacheSalt;
            this.parent = parent;
        }

        @Override
        public long next(TokenSource tokens, int from, BlockRoom room) {
            boolean isFirst = parent == noneHash;
            parent = digest(parent, room.copy(tokens, from, blockSize), extraKeys(isFirst));
            return ByteBuffer.wrap(parent).getLong(parent.length - Long.BYTES);
        }

        @Override
        public HashChain fork() {
            return new Chain(loraName, cacheSalt, parent);
        }

        private String[] extraKeys(boolean isFirst) {
            boolean isSalted = isFirst && !cacheSalt.isEmpty();
            if (loraName.isEmpty()) {
                return isSalted ? new String[] {cacheSalt} : new String[0];
            }
            return isSalted ? new String[] {loraName, cacheSalt} : new String[] {loraName};
        }
    }
}
