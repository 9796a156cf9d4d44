package understudy.kvcache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import understudy.kvcache.content.ContentConfig;
import understudy.kvcache.content.KvCacheManager;
import understudy.prompt.Xxh3BlockHasher;

final class OwnQuestionTest {
    /** Question of a family of engines of its own. */
    private record Half(int numTokens) implements KvAsk.OfFamily {}

    @Test
    void questionOfAnotherFamily_isRefused() {
        var memory = new KvCacheManager(ContentConfig.vllm(KvBlocks.of(new Xxh3BlockHasher(16), 10)));

        assertThatThrownBy(() -> memory.answer((KvAsk) new Half(8)))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("Half[numTokens=8]");
    }

    @Test
    void questionOfAFamily_isAwaited() {
        assertThat(new Half(8).awaitsAnswer()).isTrue();
    }
}
