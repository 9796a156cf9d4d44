package understudy.kvcache.tier;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class OffloadedRequestTest {
    /** 64 tokens are two chunks of 32; 40 of them are the prompt. */
    @Test
    void lastChunkOfAnAnswer_waitsForTheNextOne_withEagle() {
        var request = new PromptInBlocks(1, 100, 40);
        request.numTokens = 64;
        var state = new OffloadedRequest(request);

        state.numComputedTokens = 64;
        assertThat(state.numChunksToStore(32, false, true)).isEqualTo(1);
        assertThat(state.numChunksToStore(32, false, false)).isEqualTo(2);

        state.numComputedTokens = 32;
        assertThat(state.numChunksToStore(32, false, true))
                .as("within the prompt it is final")
                .isEqualTo(1);
    }
}
