package understudy.latency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

/** 1 us for each token of a prompt, and 4 ms behind that. */
final class ApiDelayTest {
    private static final double MILLI = 1e6;

    private final ApiDelay.Queue api = new ApiDelay.Queue(new ApiDelay(4_000_000, 1_000));

    @Test
    void promptByItself_takesItsOwnTime() {
        assertThat(enterMillis(100, 10_000)).isEqualTo(100 + 10 + 4);
        assertThat(enterMillis(200, 20_000)).isEqualTo(200 + 20 + 4);
    }

    /** Sixteen prompts took 31.6 ms where one took 10.7 ms. */
    @Test
    void promptsThatComeTogether_areTokenizedAsABatch() {
        double last = 0;
        for (int i = 0; i < 16; i++) {
            last = enterMillis(0, 10_700);
        }

        assertThat(last).isCloseTo(31.6 + 4, within(1e-5));
    }

    /** SGLang's takes the prompt of 8 ms when that of 5 ms is done: 10 + 4 + 10 ms. */
    @Test
    void promptsOfSglang_areTokenizedOneByOne() {
        var sglang = new ApiDelay.Queue(new ApiDelay(4_000_000, 1_000).oneByOne());
        sglang.add(0, 10_000);

        assertThat(sglang.add(5_000_000, 4_000)).isEqualTo((10 + 4 + 4) * 1_000_000);
        assertThat(sglang.add(8_000_000, 10_000)).isEqualTo((10 + 4 + 10 + 4) * 1_000_000);
        assertThat(sglang.add(100_000_000, 1_000)).isEqualTo((100 + 1 + 4) * 1_000_000);
    }

    /** Those of 5 and 8 ms wait until 10 ms; (31.6 - 10.7) / 15 / 10.7 = 0.1302 of the shorter one's 4 ms come on top. */
    @Test
    void promptsThatComeMeanwhile_areTheNextBatch() {
        enterMillis(0, 10_000);

        assertThat(enterMillis(5, 4_000)).isCloseTo(10 + 4 + 4, within(1e-5));
        assertThat(enterMillis(8, 10_000)).isCloseTo(10 + 10 + 0.1302 * 4 + 4, within(1e-3));
    }

    /** A batch takes what comes within 2 ms of its first prompt, here at 1.5 ms, with 1 ms and 0.1302 of the other 0.1 ms. */
    @Test
    void promptIsNotTokenizedBeforeItComes() {
        enterMillis(0, 100);

        assertThat(enterMillis(1.5, 1_000)).isCloseTo(1.5 + 1 + 0.01302 + 4, within(1e-4));
        assertThat(enterMillis(2.1, 100)).isCloseTo(1.5 + 1 + 0.01302 + 0.1 + 4, within(1e-4));
    }

    /** 32 prompts are a batch, of 1 + 31 * 0.1302 = 5.0368 times the time of one. */
    @Test
    void promptBehindAFullBatch_waitsForItsEnd() {
        for (int i = 0; i < 32; i++) {
            enterMillis(0, 1_000);
        }

        assertThat(enterMillis(0, 1_000)).isCloseTo(5.0368 + 1 + 4, within(1e-3));
    }

    @Test
    void withoutTimePerToken_nothingWaits() {
        var perRequest = new ApiDelay.Queue(new ApiDelay(4_000_000, 0));

        assertThat(perRequest.add(0, 1_000)).isEqualTo(4_000_000);
        assertThat(perRequest.add(0, 1_000)).isEqualTo(4_000_000);
    }

    private double enterMillis(double atMillis, int numPromptTokens) {
        return api.add(Math.round(atMillis * MILLI), numPromptTokens) / MILLI;
    }
}
