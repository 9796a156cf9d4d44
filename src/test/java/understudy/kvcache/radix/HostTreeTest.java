package understudy.kvcache.radix;

import static org.assertj.core.api.Assertions.assertThat;

import it.unimi.dsi.fastutil.objects.ObjectArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.prompt.Prompt;
import understudy.prompt.TokenIds;

final class HostTreeTest {
    private static final RadixConfig CONFIG = config(0);

    private static RadixConfig config(double nanosPerToken) {
        return new RadixConfig(
                1,
                20,
                false,
                false,
                RadixEvictionPolicy.LRU,
                0,
                false,
                null,
                new RadixConfig.Hierarchy(40, RadixConfig.WritePolicy.WRITE_THROUGH, 0, 0, nanosPerToken));
    }

    /** At 3 ns per token a copy of 10 tokens that begins at 100 ns is done at 130 ns; until then its node stays on the device. */
    @Test
    void copy_lastsAsLongAsItsBytesTake() {
        var memory = RadixMemory.create(config(3));
        memory.setNow(100);
        var prompt = new Prompt(new TokenIds(IntStream.range(0, 10).toArray()));
        var sequence = memory.open(RadixLookup.of(0, prompt, index -> index, 0));
        memory.match(sequence, 9);
        memory.admit(sequence, 10);
        memory.extend(ObjectArrayList.of(sequence));
        memory.release(0, true);

        memory.setNow(129);
        memory.acknowledgeWrites();
        assertThat(memory.hasPendingCopies()).isTrue();
        assertThat(figure("written_tokens", memory)).isEqualTo(10);
        assertThat(memory.numProtected()).isEqualTo(10);
        assertThat(RadixAudit.of(memory).isConserved()).isTrue();

        memory.setNow(130);
        memory.acknowledgeWrites();
        assertThat(memory.hasPendingCopies()).isFalse();
        assertThat(memory.numProtected()).isZero();
        memory.makeRoom(20);
        assertThat(RadixAudit.of(memory).isConserved()).isTrue();
    }

    private static double figure(String key, RadixMemory memory) {
        return memory.ownFigures().stream()
                .filter(figure -> figure.key().equals(key))
                .findFirst()
                .orElseThrow()
                .value();
    }

    /** A copy of 10 tokens or more is worth loading; no recording tells that from 11 tokens. */
    @ParameterizedTest
    @CsvSource({"9,0", "10,10"})
    void load_needsTenTokens(int numTokens, int numLoaded) {
        var memory = RadixMemory.create(CONFIG);
        var prompt = new Prompt(new TokenIds(IntStream.range(0, numTokens).toArray()));
        var sequence = memory.open(RadixLookup.of(0, prompt, index -> index, 0));
        memory.match(sequence, numTokens - 1);
        memory.admit(sequence, numTokens);
        memory.extend(ObjectArrayList.of(sequence));
        memory.release(0, true);
        memory.acknowledgeWrites();
        // All 20 tokens of the device are asked for, so that only the copy is left.
        memory.makeRoom(20);
        assertThat(memory.numFree()).isEqualTo(20);

        var again = memory.open(RadixLookup.of(1, prompt, index -> index, 0));
        assertThat(memory.match(again, numTokens)).isEqualTo(numTokens);
        assertThat(again.hostHit()).isEqualTo(numTokens);
        memory.loadBack(again);

        assertThat(again.numPrefixTokens()).isEqualTo(numLoaded);
    }
}
