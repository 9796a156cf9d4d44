package understudy.engine.vllm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.util.Map;
import org.junit.jupiter.api.Test;
import understudy.engine.FinishReason;
import understudy.engine.OutputPlan;
import understudy.engine.speculation.DraftCounts;
import understudy.engine.speculation.SpeculationConfig;

/** What the recordings of vLLM leave open: they decide on drafts as a whole, in {@code ConformCommandTest}. */
final class SpeculationTest {
    private final EngineFixture engine = new EngineFixture();

    SpeculationTest() {
        engine.speculation = new SpeculationConfig(3, 0, 0, false);
    }

    @Test
    void acceptedDrafts_areTokensAndRejectedOnesAreComputedAgain() {
        var request = engine.add(1, 10);
        engine.update(engine.plan(), 0);

        // The prompt has brought a token: 10 computed, 11 known. One token and 3 drafts make 14 computed; 2 are
        // accepted,
        // so 3 tokens more are known, and the last draft does not count as computed.
        var plan = engine.plan();
        assertThat(EngineFixture.scheduled(plan)).containsExactly(entry(1L, 4));
        var result = engine.update(plan, 2);

        assertThat(result.numSampledTokens()).isEqualTo(3);
        assertThat(request.numNewTokens()).isEqualTo(3);
        assertThat(request.numComputedTokens()).isEqualTo(13);
        assertThat(request.numTokens()).isEqualTo(14);
        assertThat(result.takeDrafts()).isEqualTo(new DraftCounts(1, 3, LongList.of(1, 1, 0)));
    }

    @Test
    void prefillChunk_hasNoDrafts() {
        engine.maxNumBatchedTokens = 16;
        engine.add(1, 18);

        // 18 = 16 + 2: the device proposes drafts with the first chunk too, but they would stand behind a gap.
        engine.update(engine.plan(), 0);
        var plan = engine.plan();

        assertThat(EngineFixture.scheduled(plan)).containsExactly(entry(1L, 2));
        assertThat(plan.numDrafts(0)).isZero();
    }

    @Test
    void budget_cutsDrafts() {
        engine.maxNumBatchedTokens = 6;
        engine.add(1, 2);
        engine.add(2, 2);
        engine.update(engine.plan(), 0);

        // 6 = (1 + 3) + (1 + 1)
        var plan = engine.plan();
        assertThat(EngineFixture.scheduled(plan)).containsExactly(entry(1L, 4), entry(2L, 2));
        assertThat(plan.numDrafts(0)).isEqualTo(3);
        assertThat(plan.numDrafts(1)).isEqualTo(1);
    }

    @Test
    void answer_endsWithinTheAcceptedDrafts() {
        var request = engine.add(1, 10, 3, 0);
        engine.update(engine.plan(), 0);
        var result = engine.update(engine.plan(), 3);

        // 1 token, and 2 of the next 4; all 3 drafts count as accepted.
        assertThat(request.numOutputTokens()).isEqualTo(3);
        assertThat(request.finishReason()).isEqualTo(FinishReason.LENGTH);
        assertThat(result.numSampledTokens()).isEqualTo(2);
        assertThat(result.takeDrafts().numAcceptedTokens()).isEqualTo(3);
    }

    @Test
    void acceptedDraftsBehindTheEnd_areNotCached() {
        engine.caches = true;
        engine.sharesWithinStep = false;
        engine.add(1, 13, 2, 0);
        engine.update(engine.plan(), 0);
        engine.update(engine.plan(), 3);

        // 13 + 1 + 1 tokens do not fill a block of 16; the 13 + 4 that were computed would.
        assertThat(engine.kvCache().blockHashes()).isEmpty();
    }

    @Test
    void tokensOfOneStep_areOneGap() {
        engine.add(1, 10);
        engine.update(engine.plan(), 0);
        var result = engine.update(engine.plan(), 3);

        // Plans and updates are 1 ns apart.
        assertThat((Object) result.gapNanos()).isEqualTo(LongList.of(2));
        assertThat((Object) result.gapCounts()).isEqualTo(IntList.of(1));
    }

    /** Two requests in a block of 16 tokens each; with 10 + 4 + 4 tokens the first one takes the block of the second. */
    @Test
    void draftsRejectedAfterAPreemption_takeNothingBack() {
        engine.isAsync = true;
        engine.numBlocks = 3;
        engine.add(1, 10);
        var victim = engine.add(2, 10);
        var prompts = engine.plan();
        var verification = engine.plan();
        engine.update(prompts, 0);
        engine.plan();
        assertThat(victim.numPreemptions()).isEqualTo(1);

        engine.update(verification, 0);

        // The token behind the drafts is delivered; everything is to be computed anew.
        assertThat(victim.numOutputTokens()).isEqualTo(2);
        assertThat(victim.numComputedTokens()).isZero();
    }

    /** 3 blocks of 16 tokens are free; a sequence has at most 40, so that it never needs a fourth for its lookahead. */
    @Test
    void lookahead_endsWithTheLongestSequence() {
        engine.speculation = new SpeculationConfig(3, 16, 0, false);
        engine.numBlocks = 4;
        engine.maxModelLen = 40;
        var request = engine.add(1, 36);
        engine.update(engine.plan(), 0);
        engine.update(engine.plan(), 0);

        assertThat(request.numPreemptions()).isZero();
        assertThat(request.numOutputTokens()).isEqualTo(2);
    }

    /** A prompt of 33 tokens, 32 of them cached: one to compute and 3 drafts to fill it up make 36. */
    @Test
    void admissionWithOneToken_getsDraftsLikeAllOthers() {
        // The first request has computed 32 tokens, and knows 33; it stops one short of 36.
        assertThat(admitSecond(36)).containsExactly(entry(1L, 3), entry(2L, 4));
    }

    @Test
    void admissionWithOneToken_waitsIfItsDraftsAreLongerThanTheLongestSequence() {
        assertThat(admitSecond(35)).containsExactly(entry(1L, 2));
    }

    private Map<Long, Integer> admitSecond(int maxModelLen) {
        engine.caches = true;
        engine.maxModelLen = maxModelLen;
        engine.add(EngineFixture.request(1, EngineFixture.filled(32, 7), 16, 0, OutputPlan.ENDLESS));
        engine.update(engine.plan(), 0);
        engine.add(EngineFixture.request(2, EngineFixture.filled(33, 7), 16, 0, OutputPlan.ENDLESS));
        return EngineFixture.scheduled(engine.plan());
    }
}
