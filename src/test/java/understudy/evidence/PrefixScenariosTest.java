package understudy.evidence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static understudy.app.CommandLineFixture.call;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the scenarios in {@code conf/prefix} promise: the session cache, vLLM's PR #2762 and NanoGPT. */
final class PrefixScenariosTest {
    private static final String NO_CACHING = "kv-cache.enable-prefix-caching=false";
    private static final String NO_SESSIONS = "kv-cache.sessions=off";
    private static final String NO_STORE = "kv-cache.global-prefix-store.enabled=false";

    @ParameterizedTest
    @ValueSource(ints = {25, 100, 400})
    void conversations_prefillWhatIsNewOnly(int newTokens) throws IOException {
        var run = new Run("conversations", "workload.lengths.prompt.mean=" + newTokens);

        // Seven of eight turns go on from the k (n + 100) tokens of the k before, on average from 4 (n + 100).
        assertThat(run.events("CONVERSATIONAL_HIT")).isEqualTo(700);
        assertThat(run.events("MISS_FULL")).isEqualTo(100);
        assertThat(run.figure("conversational_hit_rate")).isEqualTo(1);
        assertThat(run.figure("hit_rate")).isEqualTo(0.875);
        assertThat(run.figure("mean_cached_prefix_length_used")).isEqualTo(4 * (newTokens + 100));
        assertThat(run.figure("mean_num_tokens_actually_prefilled")).isEqualTo(newTokens);
    }

    @Test
    void conversations_answerSoonerThanWithoutCaching() throws IOException {
        var without = new Run("conversations", NO_CACHING);

        assertThat(without.figure("eligible_requests")).isZero();
        assertThat(without.figure("prefilled_to_prompt_ratio")).isEqualTo(1);
        // 700 fewer tokens per prompt on average, at 23 us: 16 ms less, and as much less to wait for others.
        assertThat(new Run("conversations").meanTtftMillis()).isLessThan(without.meanTtftMillis() - 16);
    }

    @Test
    void conversations_areTheSameWithBlocksThatAreOnlyCounted() throws IOException {
        assertThat(new Run("conversations", "kv-cache.sessions=simplified").json.get("prefix_caching"))
                .isEqualTo(new Run("conversations").json.get("prefix_caching"));
    }

    @Test
    void conversations_byContent_findWholeBlocksOnly() throws IOException {
        var run = new Run("conversations", NO_SESSIONS);

        // Of 200 k tokens, 200 k - 1 in whole blocks: 192, 384, 592, 784, 992, 1184, 1392, on average 788.57.
        assertThat(run.events("CONVERSATIONAL_HIT")).isEqualTo(700);
        assertThat(run.figure("mean_cached_prefix_length_used")).isEqualTo(5_520 / 7.0, within(1e-9));
    }

    @Test
    void conversations_onSeveralReplicas_hitAsOnOneIfTheyStayThere() throws IOException {
        var run = new Run("conversations", "cluster.replicas=4", "router.policy=session-affinity");

        // Seven of eight turns, as on one replica.
        assertThat(run.figure("hit_rate")).isEqualTo(0.875);
        assertThat(run.figure("mean_cached_prefix_length_used")).isEqualTo(800);
    }

    @ParameterizedTest
    @ValueSource(strings = {"off", "simplified", "detailed"})
    void conversations_whoseHistoryIsAlwaysRewritten_areNeverHit(String sessions) throws IOException {
        var run = new Run(
                "conversations", "kv-cache.sessions=" + sessions, "workload.sessions.unexpected-prompt-probability=1");

        assertThat(run.events("CONVERSATIONAL_MISS_UNEXPECTED_PROMPT")).isEqualTo(700);
        assertThat(run.events("MISS_FULL")).isEqualTo(800);
        assertThat(run.figure("prefilled_to_prompt_ratio")).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({"1, 64", "4, 64", "16, 64", "4, 16", "4, 256"})
    void repetitiveTasks_hitTheirInstructionAfterTwoRequests(int numInstructions, int textTokens) throws IOException {
        var run = new Run(
                "repetitive-tasks",
                "workload.prefix-groups.count=" + numInstructions,
                "workload.lengths.prompt.mean=" + textTokens);

        int numMisses = 2 * numInstructions;
        assertThat(run.events("MISS_FULL")).isEqualTo(numMisses);
        assertThat(run.events("CROSS_REQUEST_HIT")).isEqualTo(1_000 - numMisses);
        assertThat(run.figure("cross_request_hit_rate")).isEqualTo(1 - numMisses / 1_000.0);
        assertThat(run.figure("mean_cached_prefix_length_used")).isEqualTo(512);
        assertThat(run.figure("total_num_tokens_actually_prefilled")).isEqualTo(1_000 * textTokens + numMisses * 512);
        assertThat(run.figure("mean_ttft_hit_ms")).isLessThan(run.figure("mean_ttft_miss_ms"));
    }

    @Test
    void repetitiveTasks_byContent_missOncePerInstruction() throws IOException {
        var run = new Run("repetitive-tasks", NO_SESSIONS, NO_STORE);

        assertThat(run.events("CROSS_REQUEST_HIT")).isEqualTo(1_000 - 4);
    }

    @Test
    void uniquePrompts_hardlyGain() throws IOException {
        var run = new Run("unique-prompts");

        int numTurns = (int) run.figure("conversational_turns");
        assertThat(numTurns).as("a few second turns").isBetween(30, 100);
        assertThat(run.events("MISS_FULL")).isEqualTo(1_000 - numTurns);
        assertThat(run.events("CROSS_REQUEST_HIT")).isZero();
        assertThat(run.figure("prefilled_to_prompt_ratio")).isGreaterThan(0.9);
        assertThat(run.meanTtftMillis()).isCloseTo(new Run("unique-prompts", NO_CACHING).meanTtftMillis(), within(2.0));
    }

    @Test
    void uniquePrompts_withoutConversations_performAsWithoutCaching() throws IOException {
        String single = "workload.sessions.turns.stddev=0";
        var run = new Run("unique-prompts", single);

        assertThat(run.events("MISS_FULL")).isEqualTo(1_000);
        assertThat(run.figure("prefilled_to_prompt_ratio")).isEqualTo(1);
        assertThat(run.json.get("step_digest"))
                .isEqualTo(new Run("unique-prompts", single, NO_CACHING).json.get("step_digest"));
    }

    @ParameterizedTest
    @CsvSource({"20, 1000, 30", "5, 1000, 30", "100, 1000, 30", "20, 300, 30", "20, 3000, 30", "20, 1000, 300"})
    void fewShotPrefixes_becomeCached(int count, int length, int queryTokens) throws IOException {
        var run = new Run(
                "few-shot",
                "workload.prefix-groups.count=" + count,
                "workload.prefix-groups.length.mean=" + length,
                "workload.lengths.prompt.mean=" + queryTokens);

        int numHits = 1_000 - 2 * count;
        assertThat(run.events("CROSS_REQUEST_HIT")).isEqualTo(numHits);
        assertThat(run.figure("mean_cached_prefix_length_used")).isEqualTo(length / 16 * 16);
        assertThat(run.figure("total_num_tokens_actually_prefilled"))
                .isEqualTo(1_000.0 * (length + queryTokens) - numHits * (length / 16 * 16));
    }

    @Test
    void fewShotPrefixes_thatDoNotAllFit_areHitLess() throws IOException {
        // Ten of twenty fit; with random choice and the least recently used one going first, about every second hits.
        assertThat(new Run("few-shot", "kv-cache.global-prefix-store.max-tokens=9920").figure("hit_rate"))
                .isBetween(0.4, 0.6);
    }

    @Test
    void slidingWindow_hitsWhatIsLeftOfTheConversation() throws IOException {
        var run = new Run("context-window");

        // Turn k asks for 200 k - 100 tokens and 100 more; from the 11th on 200 k - 2048, in whole blocks, are left
        // out:
        // 160, 352, 560, 752, 960, 1152. Of the 200 (k - 1) tokens before, 1840 or 1848 are left.
        assertThat(run.events("CONVERSATIONAL_HIT")).isEqualTo(1_500);
        assertThat(run.figure("mean_cached_prefix_length_used"))
                .isEqualTo((9_000 + 3 * 1_840 + 3 * 1_848) / 15.0, within(1e-9));
        assertThat(run.figure("mean_num_tokens_actually_prefilled")).isEqualTo(100);
        assertThat(new Run("context-window", "engine.max-model-len=4096").figure("mean_cached_prefix_length_used"))
                .as("with room for everything")
                .isEqualTo(1_600);
    }

    @Test
    void slidingWindow_byContent_missesOnceItHasMoved() throws IOException {
        var run = new Run("context-window", NO_SESSIONS);

        // Nine follow-up turns of each session fit; the six after them have lost their beginning.
        assertThat(run.events("CONVERSATIONAL_HIT")).isEqualTo(900);
        assertThat(run.events("MISS_FULL")).isEqualTo(100 + 600);
    }

    @Test
    void slidingWindow_mayBeWhatASessionMayHoldOfTheMemory() throws IOException {
        var run = new Run("context-window", "engine.max-model-len=4096", "kv-cache.max-session-tokens=2048");

        assertThat(run.json.get("prefix_caching")).isEqualTo(new Run("context-window").json.get("prefix_caching"));
    }

    @Test
    void fullWindow_endsTheConversationIfItIsNotMoved() throws IOException {
        var run = new Run("context-window", "engine.context-window-exceeded=reject");

        assertThat(run.json.get("completed").asInt()).isEqualTo(1_000);
        assertThat(run.json.get("rejected").asInt()).isEqualTo(100);
    }

    @Test
    void vllm_followUpHitsPromptAndAnswer() throws IOException {
        var withAnswers = new Run("vllm-pr-2762");
        var promptsOnly = new Run("vllm-pr-2762", "kv-cache.cache-generated-blocks=false");

        // Whole blocks of 752 - 1, 992 - 1, ... 1712 - 1 tokens of A+B, and of the 632, 872, ... 1592 tokens of A.
        int firstTurns = 196 * 512;
        assertThat(withAnswers.json.get("prefix_cache_hits").asInt())
                .isEqualTo(200 * (736 + 976 + 1_216 + 1_456 + 1_696) + firstTurns);
        assertThat(promptsOnly.json.get("prefix_cache_hits").asInt())
                .isEqualTo(200 * (624 + 864 + 1_104 + 1_344 + 1_584) + firstTurns);
    }

    @ParameterizedTest
    @ValueSource(strings = {"lru", "lru-longest-prefix", "lfu", "fifo", "s3fifo", "arc"})
    void vllm_anyPolicyServesAllWithTooLittleMemory(String policy) throws IOException {
        var run = new Run("vllm-pr-2762", "kv-cache.num-gpu-blocks=3000", "kv-cache.eviction-policy=" + policy);

        assertThat(run.json.get("completed").asInt()).isEqualTo(1_200);
        assertThat(run.json.get("prefix_cache_hits").asInt()).isBetween(1, 1_316_351);
    }

    @Test
    void demo_conversationsAreHitLessOftenIfNobodyLooksForThem() throws IOException {
        var aware = new Run("../demo", "workload.requests=600");
        var blind = new Run("../demo", "workload.requests=600", "router.policy=round-robin");

        // With four replicas in turn, a session of up to eight turns comes back to one of them from its fifth turn on;
        // every
        // turn finds its system prompt, which others use too, so that the rate of all hits says little.
        assertThat(aware.figure("conversational_hit_rate")).isGreaterThan(0.9);
        assertThat(blind.figure("conversational_hit_rate")).isLessThan(0.6);
        assertThat(blind.figure("hit_rate")).isGreaterThan(0.9);
    }

    @Test
    void nanoGpt_aSharedSystemPromptSaves511488Tokens() throws IOException {
        var run = new Run("nanogpt-system-prompt");

        assertThat(run.json.get("prefix_cache_hits").asInt())
                .isEqualTo(999 * 512)
                .isEqualTo(511_488);
        assertThat(run.figure("total_num_tokens_actually_prefilled")).isEqualTo(1_000 * 32 + 512);
    }

    /** A run of one of the scenarios, with some settings. */
    private static final class Run {
        private final JsonNode json;

        Run(String scenario, String... settings) throws IOException {
            var args = new ArrayList<>(List.of("run", "conf/prefix/" + scenario + ".conf", "--json", "-"));
            for (String setting : settings) {
                args.addAll(List.of("--set", setting));
            }
            var run = call(args.toArray(String[]::new));
            assertThat(run.exitCode).as(run.err).isZero();
            json = run.json();
        }

        int events(String event) {
            return json.get("prefix_caching").get("events").get(event).asInt();
        }

        double figure(String name) {
            return json.get("prefix_caching").get(name).asDouble();
        }

        double meanTtftMillis() {
            return json.get("mean_ttft_ms").asDouble();
        }
    }
}
