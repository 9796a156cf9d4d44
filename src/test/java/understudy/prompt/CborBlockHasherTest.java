package understudy.prompt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.HexFormat;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import understudy.prompt.CborBlockHasher.Algorithm;

/**
 * The expected digests were made by vLLM's own functions with {@code PYTHONHASHSEED=0}, for a first block of token ids 0 to
 * 15 and a second one of 16 to 31.
 */
final class CborBlockHasherTest {
    private static final int[] FIRST = IntStream.range(0, 16).toArray();
    private static final int[] SECOND = IntStream.range(16, 32).toArray();

    private final CborBlockHasher sha256 = new CborBlockHasher(Algorithm.SHA256_CBOR, 16, "0");
    private final CborBlockHasher xxhash = new CborBlockHasher(Algorithm.XXHASH_CBOR, 16, "0");

    @Test
    void sha256_equalsVllms() {
        assertThat(hex(sha256.noneHash()))
                .isEqualTo("4e1195df020de59e0d65a33a4279f1183e7ae4e5d980e309f8b55adff2e61c3e");
        byte[] first = sha256.digest(sha256.noneHash(), FIRST);
        assertThat(hex(first)).isEqualTo("d830de3d42c00f25a2949b5d12d98642664a44872c1614c5b0147556276afc9c");
        assertThat(hex(sha256.digest(first, SECOND)))
                .isEqualTo("fedd9e4abebebbe6f6cf96b682f08d316063fe2f22a5c552192dd62904fcccac");
        assertThat(hex(sha256.digest(sha256.noneHash(), FIRST, "salt1")))
                .isEqualTo("24e829cd266e3c8f3c3064abfb08233b5d0bb83ceeca8628dae8bd6166ea7941");
        assertThat(hex(sha256.digest(sha256.noneHash(), FIRST, "my-lora")))
                .isEqualTo("8b4227ad680a61cde1060f9e82d7d2994ea655458dd28e17c756e32d62e77a73");
    }

    @Test
    void xxhash_equalsVllms() {
        assertThat(hex(xxhash.noneHash())).isEqualTo("1ebe36576dcb573f26b99533a20aaeca");
        byte[] first = xxhash.digest(xxhash.noneHash(), FIRST);
        assertThat(hex(first)).isEqualTo("209f5d549fc07c8e39d823615ede61ce");
        assertThat(hex(xxhash.digest(first, SECOND))).isEqualTo("03888914ee75b87e89df867a21beb72b");
    }

    @Test
    void blockIds_areTheLow64BitsThatVllmPublishes() {
        assertThat(prompt("", "").blockHashes(sha256))
                .containsExactly(
                        Long.parseUnsignedLong("12687895063098490012"),
                        low64("fedd9e4abebebbe6f6cf96b682f08d316063fe2f22a5c552192dd62904fcccac"));
        assertThat(prompt("", "").blockHashes(xxhash)[0]).isEqualTo(Long.parseUnsignedLong("4168120356241826254"));
    }

    @Test
    void salt_entersTheFirstBlockOnlyAndLoraEveryOne() {
        byte[] salted = sha256.digest(sha256.noneHash(), FIRST, "salt1");
        assertThat(prompt("", "salt1").blockHashes(sha256))
                .containsExactly(low64(hex(salted)), low64(hex(sha256.digest(salted, SECOND))));

        byte[] both = sha256.digest(sha256.noneHash(), FIRST, "my-lora", "salt1");
        assertThat(prompt("my-lora", "salt1").blockHashes(sha256))
                .as("LoRA name before salt")
                .containsExactly(low64(hex(both)), low64(hex(sha256.digest(both, SECOND, "my-lora"))));
    }

    @ParameterizedTest
    @EnumSource(Algorithm.class)
    void forkedChain_goesOnByItself(Algorithm algorithm) {
        var hasher = new CborBlockHasher(algorithm, 16, "0");
        var chain = hasher.start(prompt("", ""));
        chain.next(FIRST);
        var fork = chain.fork();

        assertThat(chain.next(SECOND)).isEqualTo(fork.next(SECOND));
        assertThat(new CborBlockHasher(algorithm, 16, "1").noneHash()).isNotEqualTo(hasher.noneHash());
    }

    @Test
    void blockSizeZero_isRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> new CborBlockHasher(Algorithm.SHA256_CBOR, 0, "0"));
    }

    private static Prompt prompt(String loraName, String cacheSalt) {
        return new Prompt(new TokenIds(IntStream.range(0, 32).toArray()), loraName, cacheSalt);
    }

    private static String hex(byte[] bytes) {
        return HexFormat.of().formatHex(bytes);
    }

    private static long low64(String hex) {
        return Long.parseUnsignedLong(hex.substring(hex.length() - 16), 16);
    }
}
