package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static understudy.app.CommandLineFixture.call;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code conf/speculation.conf}: 3 drafts, of which verifications bring 2.25 tokens in the mean. */
final class SpeculationRunTest {
    private static final String SCENARIO = "conf/speculation.conf";

    @Test
    void report_hasWhatBecameOfDrafts() throws IOException {
        var json = call("run", SCENARIO, "--json", "-").json();
        var drafts = json.get("spec_decode");

        assertThat(drafts.get("mean_acceptance_length").asDouble()).isCloseTo(2.25, within(0.0225));
        long numDrafts = drafts.get("num_drafts").asLong();
        long numAccepted = drafts.get("num_accepted_tokens").asLong();
        assertThat(drafts.get("num_draft_tokens").asLong()).isEqualTo(3 * numDrafts);
        assertThat(drafts.get("acceptance_rate").asDouble()).isEqualTo(numAccepted / (3.0 * numDrafts));
        assertThat(drafts.get("num_accepted_tokens_per_pos")).hasSize(3);
        assertThat(drafts.get("num_accepted_tokens_per_pos").get(2).asLong()).isZero();
    }

    @Test
    void drafts_takeTimeAndSaveMore() throws IOException {
        var with = call("run", SCENARIO, "--json", "-").json();
        var free = call("run", SCENARIO, "--set", "engine.speculative.draft-time-per-token=0ms", "--json", "-")
                .json();
        var without = call("run", SCENARIO, "--set", "engine.speculative.method=none", "--json", "-")
                .json();

        // 3 drafts of 0.4 ms in each step.
        double draftsMillis =
                with.get("median_itl_ms").asDouble() - free.get("median_itl_ms").asDouble();
        assertThat(draftsMillis).isCloseTo(1.2, within(0.1));
        assertThat(with.get("mean_tpot_ms").asDouble())
                .isLessThan(without.get("mean_tpot_ms").asDouble() / 1.5);
        assertThat(without.has("spec_decode")).isFalse();
    }

    @Test
    void text_hasThemToo() {
        var run = call("run", SCENARIO, "--set", "workload.requests=50");

        assertThat(run.out)
                .contains("Speculative Decoding", "Mean acceptance length:", "Acceptance rate at position 2");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "method=eagle4 | engine.speculative.method is \"eagle4\"",
                "method=ngram | whose drafts come too late for engine.async-scheduling = true",
                "num-speculative-tokens=0 | engine.speculative.num-speculative-tokens is \"0\"",
                "synthetic-acceptance-length=none | must be a number from 1.0 to 4.0",
                "synthetic-acceptance-length=4.1 | must be a number from 1.0 to 4.0",
                "synthetic-acceptance-rates=[0.5] | say the same; give one of them",
                "proposal-rate=2 | must be a number from 0.0 to 1.0"
            })
    void settingThatCannotBe_isNamed(String setting, String problem) {
        var run = call("run", SCENARIO, "--set", "engine.speculative." + setting);

        assertThat(run.exitCode).isEqualTo(2);
        assertThat(run.err).contains(problem);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "[0.5] | of which there must be one for each of 3 drafts",
                "[0.5, 0.6, 0.1] | must not rise",
                "[0.5, x, 0.1] | must be from 0 to 1"
            })
    void ratesThatCannotBe_areNamed(String rates, String problem) {
        var run = call(
                "run",
                SCENARIO,
                "--set",
                "engine.speculative.synthetic-acceptance-length=none",
                "--set",
                "engine.speculative.synthetic-acceptance-rates=" + rates);

        assertThat(run.exitCode).isEqualTo(2);
        assertThat(run.err).contains(problem);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "kv-cache.sessions=detailed | kv-cache.sessions",
                "engine.kind=roseinfer | engine.speculative.method",
                "engine.enable-chunked-prefill=false | it must be at least"
            })
    void settingThatSpeculationExcludes_isNamed(String setting, String problem) {
        // The longest sequence has 131072 tokens, and with 3 drafts a request takes 3 more of a step.
        var run = call(
                "run",
                SCENARIO,
                "--set",
                setting,
                "--set",
                "engine.speculative.method=dflash",
                "--set",
                "engine.max-num-seqs=8");

        assertThat(run.exitCode).isEqualTo(2);
        assertThat(run.err).contains(problem);
    }
}
