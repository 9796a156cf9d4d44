package understudy.workload;

import it.unimi.dsi.fastutil.HashCommon;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import java.util.zip.CRC32C;
import org.apache.commons.rng.UniformRandomProvider;

/**
 * Independent random streams from one seed, by name. Drawing more numbers from one stream does not change any other, so
 * a new feature does not change unrelated results.
 *
 * @param seed any number
 */
public record RandomStreams(long seed) {

    /** Returns the stream called {@code name}, from its beginning. */
    public UniformRandomProvider stream(String name) {
        return stream(name, 0);
    }

    /** Returns one of many streams that serve the same purpose, such as one per session, from its beginning. */
    public UniformRandomProvider stream(String name, long index) {
        var crc = new CRC32C();
        crc.update(name.getBytes(StandardCharsets.UTF_8));
        long purpose = HashCommon.murmurHash3(crc.getValue() + 1) + HashCommon.murmurHash3(index);
        var random = new SplittableRandom(HashCommon.murmurHash3(seed) ^ purpose);
        return random::nextLong;
    }
}
