package understudy.fuzz;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import understudy.kvcache.Admission;
import understudy.kvcache.AdmissionRequest;
import understudy.kvcache.KvAnswer;
import understudy.kvcache.KvAsk;
import understudy.kvcache.KvBlocks;
import understudy.kvcache.PrefixLookup;
import understudy.kvcache.content.ContentConfig;
import understudy.kvcache.content.KvCacheManager;
import understudy.prompt.Prompt;
import understudy.prompt.SessionTurn;
import understudy.prompt.TokenIds;
import understudy.prompt.Xxh3BlockHasher;

/** Blocks of 4 tokens; prompts are the numbers from 0 on. */
final class PrefixLawTest {
    private static final ContentConfig CONFIG =
            ContentConfig.vllm(KvBlocks.of(new Xxh3BlockHasher(4), 7).withMaxModelLen(24));

    private final PrefixModel model = PrefixModel.of(CONFIG);
    private final KvCacheManager memory = new KvCacheManager(CONFIG);
    private final PrefixLaw law = new PrefixLaw(CONFIG, memory);

    @Test
    void modelFindsFullBlocksButNeverTheLastToken() {
        model.store(lookup(0, 10, ""), 10);

        // 10 tokens are 2 full blocks; of 8 tokens the last must be computed, so 7 may be found, which is 1 block.
        assertThat(model.numHitTokens(lookup(0, 10, ""))).isEqualTo(8);
        assertThat(model.numHitTokens(lookup(0, 9, ""))).isEqualTo(8);
        assertThat(model.numHitTokens(lookup(0, 8, ""))).isEqualTo(4);
        assertThat(model.numHitTokens(lookup(0, 10, "salt"))).isZero();
        model.clear();
        assertThat(model.numHitTokens(lookup(0, 10, ""))).isZero();
    }

    @Test
    void memoryThatFindsWhatIsThere_isFine() {
        law.answer(admit(0, 10));
        memory.free(0, 1);

        assertThat(cached(law.answer(admit(1, 10)))).isEqualTo(8);
        var matched = (KvAnswer.Matched) law.answer(new KvAsk.Match(List.of(lookup(2, 7, ""))));
        assertThat(matched.numCachedTokens().toIntArray()).containsExactly(4);
    }

    @Test
    void memoryThatFindsMore_isFound() {
        memory.answer(admit(0, 10)); // behind the law's back

        assertThatThrownBy(() -> law.answer(admit(1, 10)))
                .isInstanceOf(BrokenLawException.class)
                .hasMessage("prefix hits: 8 of 10 tokens were found, but 0 have been cached");
    }

    @Test
    void memoryThatFindsLess_isFoundUnlessItHasEvicted() {
        law.answer(admit(0, 20));
        memory.free(0, 1);
        memory.resetPrefixCache(); // behind the law's back

        assertThatThrownBy(() -> law.answer(admit(1, 20)))
                .hasMessage("prefix hits: 0 of 20 tokens were found, but 16 have been cached");
    }

    /** 6 usable blocks: the first prompt has 5, of which another one of 24 tokens takes all. */
    @Test
    void memoryThatHasEvicted_mayFindLess() {
        law.answer(admit(0, 20));
        memory.free(0, 1);
        memory.answer(admit(1, 24, "other"));
        memory.free(1, 2);

        assertThat(cached(law.answer(admit(2, 20)))).isZero();
    }

    private static int cached(KvAnswer answer) {
        var admission = ((KvAnswer.Admitted) answer).admission();
        return ((Admission.Admitted) admission).numCachedTokens();
    }

    private static KvAsk admit(int handle, int length) {
        return admit(handle, length, "");
    }

    private static KvAsk admit(int handle, int length, String salt) {
        var lookup = lookup(handle, length, salt);
        return new KvAsk.Admit(AdmissionRequest.of(lookup, 100, length + 1).withAtNanos(handle));
    }

    private static PrefixLookup lookup(int handle, int length, String salt) {
        var tokens = new TokenIds(IntStream.range(0, length).toArray());
        return new PrefixLookup(handle, new Prompt(tokens, "", salt, SessionTurn.NONE), i -> -i, length, true);
    }
}
