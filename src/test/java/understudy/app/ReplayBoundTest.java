package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.app.CommandLineFixture.call;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The row below the policies that know the future: what no policy exceeds. */
final class ReplayBoundTest {
    @TempDir
    private Path directory;

    /**
     * A cache of one block, prompts of 512, 1, 1 and 512 tokens. Both that know the future keep the short one, which is used
     * again sooner: 1 of 1026 tokens. Who keeps the long one has one block hit, too, but 512 tokens, 49.90 %.
     */
    @Test
    void bound_isThatOfTokensAndNotOfBlocks() throws IOException {
        String trace = trace(line(512, "1"), line(1, "2"), line(1, "2"), line(512, "1"));

        assertThat(rows(trace, "--policy=lru,belady-bypass", "--capacity=1"))
                .containsExactly(
                        "| policy        | 1 (50%) |",
                        "| lru           |    0.10 |",
                        "|               |         |",
                        "| belady-bypass |    0.10 |",
                        "| bound         |   49.90 |");
    }

    /**
     * Two equal prompts of 1000 tokens in two blocks: two blocks hit are 1024 tokens at most, of 2000, but nothing that never
     * evicts hits more than the 1000 of the second.
     */
    @Test
    void bound_isNoMoreThanWhatIsHitWithoutEviction() throws IOException {
        String trace = trace(line(1000, "1, 2"), line(1000, "1, 2"));

        assertThat(rows(trace, "--policy=belady-bypass", "--capacity=2")).contains("| bound         |    51.20 |");
        assertThat(rows(trace, "--policy=belady-bypass,infinite", "--capacity=2"))
                .contains("| bound         |    50.00 |");
    }

    @Test
    void legend_saysWhatIsABoundOfWhat() throws IOException {
        String trace = trace(line(512, "1"));

        assertThat(call("replay", trace, "--policy=belady", "--capacity=1").out)
                .contains("no policy that must admit every block hits more blocks")
                .doesNotContain("bound");
        assertThat(call("replay", trace, "--policy=belady-bypass", "--capacity=1").out)
                .contains("belady-bypass knows the future and need not admit: it is the bound of block hits\n")
                .contains("bound: no policy hits more tokens");
    }

    private List<String> rows(String trace, String... options) {
        var args = new String[options.length + 2];
        args[0] = "replay";
        args[1] = trace;
        System.arraycopy(options, 0, args, 2, options.length);
        return call(args)
                .out
                .lines()
                .dropWhile(line -> !line.startsWith("|"))
                .takeWhile(line -> !line.isEmpty() && !line.startsWith("*") && !line.startsWith("b"))
                .filter(line -> line.startsWith("|"))
                .toList();
    }

    private String trace(String... lines) throws IOException {
        return Files.writeString(directory.resolve("t.jsonl"), String.join("", lines))
                .toString();
    }

    private static String line(int promptTokens, String ids) {
        return "{\"timestamp\": 0, \"input_length\": %d, \"output_length\": 1, \"hash_ids\": [%s]}\n"
                .formatted(promptTokens, ids);
    }
}
