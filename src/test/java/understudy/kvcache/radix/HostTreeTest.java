package understudy.kvcache.radix;

import static org.assertj.core.api.Assertions.assertThat;

import it.unimi.dsi.fastutil.objects.ObjectArrayList;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.prompt.Prompt;
import understudy.prompt.TokenIds;

final class HostTreeTest {
    private static final RadixConfig CONFIG = config(RadixConfig.WritePolicy.WRITE_THROUGH, null);

    private static RadixConfig config(RadixConfig.WritePolicy writePolicy, RadixConfig.@Nullable HostLinkSpec link) {
        return new RadixConfig(
                1,
                20,
                false,
                false,
                RadixEvictionPolicy.LRU,
                0,
                false,
                null,
                new RadixConfig.Hierarchy(40, writePolicy, 0, 0, link, null));
    }

    /** At 4 ns per token a copy of 10 tokens that begins at 100 ns is done at 140 ns; until then its node stays on the device. */
    @Test
    void copy_lastsAsLongAsItsBytesTake() {
        var memory = RadixMemory.create(config(RadixConfig.WritePolicy.WRITE_THROUGH, HostLinkTest.LINK));
        memory.setNow(100);
        cacheTenTokens(memory);

        memory.setNow(139);
        memory.acknowledgeWrites();
        assertThat(memory.hasPendingCopies()).isTrue();
        assertThat(figure("written_tokens", memory)).isEqualTo(10);
        assertThat(memory.numProtected()).isEqualTo(10);
        assertThat(RadixAudit.of(memory).isConserved()).isTrue();

        memory.setNow(140);
        memory.acknowledgeWrites();
        assertThat(memory.hasPendingCopies()).isFalse();
        assertThat(memory.numProtected()).isZero();
        memory.makeRoom(20);
        assertThat(RadixAudit.of(memory).isConserved()).isTrue();
    }

    private static void cacheTenTokens(RadixMemory memory) {
        var prompt = new Prompt(new TokenIds(IntStream.range(0, 10).toArray()));
        var sequence = memory.open(RadixLookup.of(0, prompt, index -> index, 0));
        memory.match(sequence, 9);
        memory.admit(sequence, 10);
        memory.extend(ObjectArrayList.of(sequence));
        memory.release(0, true);
    }

    /** A node of 10 tokens that makes way is copied in 40 ns, for which the scheduler waits; nothing is pending then. */
    @Test
    void writeBack_isWaitedFor() {
        var memory = RadixMemory.create(config(RadixConfig.WritePolicy.WRITE_BACK, HostLinkTest.LINK));
        memory.setNow(100);
        cacheTenTokens(memory);
        assertThat(memory.takeWaitNanos()).isZero();

        memory.makeRoom(20);

        assertThat(memory.takeWaitNanos()).isEqualTo(40);
        assertThat(memory.takeWaitNanos()).isZero();
        assertThat(memory.hasPendingCopies()).isFalse();
        assertThat(memory.numFree()).isEqualTo(20);
        assertThat(RadixAudit.of(memory).isConserved()).isTrue();
    }

    /** What is loaded begins at 200 ns, and takes 40 ns; the copies of 10 tokens to the host are done before. */
    @Test
    void load_lastsAsLongAsItsBytesTake() {
        var memory = RadixMemory.create(config(RadixConfig.WritePolicy.WRITE_THROUGH, HostLinkTest.LINK));
        cacheTenTokens(memory);
        memory.setNow(200);
        memory.acknowledgeWrites();
        memory.makeRoom(20);
        var prompt = new Prompt(new TokenIds(IntStream.range(0, 12).toArray()));
        var again = memory.open(RadixLookup.of(1, prompt, index -> index, 0));
        memory.match(again, 11);
        memory.loadBack(again);

        assertThat(memory.startLoading()).isEqualTo(40);
        assertThat(memory.startLoading()).isZero();
        memory.setNow(239);
        memory.acknowledgeLoads();
        assertThat(memory.hasPendingCopies()).isTrue();
        memory.setNow(240);
        memory.acknowledgeLoads();
        assertThat(memory.hasPendingCopies()).isFalse();
    }

    /** A page that is nowhere, and one that is there twice. */
    @Test
    void audit_countsTheHostsPages() {
        var memory = RadixMemory.create(CONFIG);
        cacheTenTokens(memory);
        assertThat(RadixAudit.of(memory).isConserved()).isTrue();

        var node = memory.tree().nodes().get(0);
        var pages = Objects.requireNonNull(node.hostPages);
        pages[0] = pages[1];

        assertThat(RadixAudit.of(memory).isConserved()).isFalse();
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

    /**
     * 20 tokens on the device, 11 on the host. What is to be loaded holds 10 of the host, another prefix 12 of the device. For
     * 10 places the other one must go, and finds no room on the host: what is to be loaded may not make room for it there.
     */
    @Test
    void copyThatIsToBeLoaded_staysOnTheHost() {
        var memory = RadixMemory.create(new RadixConfig(
                1,
                20,
                false,
                false,
                RadixEvictionPolicy.LRU,
                0,
                false,
                null,
                new RadixConfig.Hierarchy(10, RadixConfig.WritePolicy.WRITE_BACK, 0, 0, null, null)));
        var prompt = new Prompt(new TokenIds(IntStream.range(0, 10).toArray()));
        cache(memory, prompt);
        memory.makeRoom(20);
        cache(memory, new Prompt(new TokenIds(IntStream.range(100, 112).toArray())));
        assertThat(memory.numFree()).isEqualTo(8);

        var again = memory.open(RadixLookup.of(1, prompt, index -> index, 0));
        memory.match(again, 10);
        assertThat(again.hostHit()).isEqualTo(10);
        memory.loadBack(again);

        assertThat(again.numPrefixTokens()).isEqualTo(10);
        var host = Objects.requireNonNull(memory.takeHostActivity());
        assertThat(host.numUsed()).isEqualTo(10);
        // 20 less the 10 that were loaded: the other prefix is gone.
        assertThat(memory.numFree()).isEqualTo(10);
    }

    private static void cache(RadixMemory memory, Prompt prompt) {
        var sequence = memory.open(RadixLookup.of(0, prompt, index -> index, 0));
        memory.match(sequence, 1);
        memory.admit(sequence, prompt.tokens().length());
        memory.extend(ObjectArrayList.of(sequence));
        memory.release(0, true);
    }
}
