package understudy.engine.lora;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Which adapters are read and copied, and which make room for them. */
final class AdapterCacheTest {

    @Test
    void adapterOnTheGpu_takesNothing() {
        var cache = new AdapterCache(LoraConfig.ofPlaces(1, 2));

        expect(cache, "a", 1, 1);
        expect(cache, "a", 0, 0);
    }

    @Test
    void adapterOnTheHost_isOnlyCopied() {
        var cache = new AdapterCache(LoraConfig.ofPlaces(1, 2));
        expect(cache, "a", 1, 1);
        expect(cache, "b", 1, 1);

        expect(cache, "a", 0, 1);
    }

    /** Of a and b, a was used last: c takes the place of b in the host's memory, and b must be read again. */
    @Test
    void leastRecentlyUsedAdapter_makesRoom() {
        var cache = new AdapterCache(LoraConfig.ofPlaces(1, 2));
        expect(cache, "a", 1, 1);
        expect(cache, "b", 1, 1);
        expect(cache, "a", 0, 1);

        expect(cache, "c", 1, 1);
        expect(cache, "a", 0, 1);
        expect(cache, "b", 1, 1);
    }

    /** All three stay on the host. Of a and b in the slots, a was used last: c takes the slot of b. */
    @Test
    void leastRecentlyUsedAdapter_leavesItsSlot() {
        var cache = new AdapterCache(LoraConfig.ofPlaces(2, 3));
        expect(cache, "a", 1, 1);
        expect(cache, "b", 1, 1);
        expect(cache, "a", 0, 0);

        expect(cache, "c", 1, 1);
        expect(cache, "a", 0, 0);
        expect(cache, "b", 0, 1);
    }

    /** With two slots and two places, c drives a out of both. */
    @Test
    void adapterThatLeavesTheHost_leavesTheGpu() {
        var cache = new AdapterCache(LoraConfig.ofSlots(2));
        expect(cache, "a", 1, 1);
        expect(cache, "b", 1, 1);

        expect(cache, "c", 1, 1);
        expect(cache, "b", 0, 0);
        expect(cache, "a", 1, 1);
    }

    private static void expect(AdapterCache cache, String name, int numLoads, int numActivations) {
        cache.use(name);

        assertThat(cache.takeLoads()).as("loads of %s", name).isEqualTo(numLoads);
        assertThat(cache.takeActivations()).as("activations of %s", name).isEqualTo(numActivations);
    }
}
