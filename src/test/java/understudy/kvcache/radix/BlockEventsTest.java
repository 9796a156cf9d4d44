package understudy.kvcache.radix;

import static org.assertj.core.api.Assertions.assertThat;

import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import it.unimi.dsi.fastutil.objects.ObjectArrayList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.kvcache.KvEvent;
import understudy.kvcache.connector.KvSource;
import understudy.kvcache.connector.StorageWord;
import understudy.prompt.Prompt;
import understudy.prompt.TokenIds;
import understudy.prompt.Xxh3BlockHasher;

/** Blocks of the tree, and the events that tell of them. */
final class BlockEventsTest {
    private static final int NUM_TOKENS = 96;

    private static Prompt prompt(int... tokens) {
        return new Prompt(new TokenIds(tokens));
    }

    /** A memory whose events are told. */
    private static final class Cache {
        private final BlockEvents log;
        private final int blockSize;
        final RadixMemory memory;
        private int numRequests;

        Cache(int pageSize, int blockSize) {
            this(pageSize, blockSize, null, null);
        }

        Cache(
                int pageSize,
                int blockSize,
                RadixConfig.@Nullable Window window,
                RadixConfig.@Nullable Hierarchy hierarchy) {
            this.blockSize = blockSize;
            log = new BlockEvents(new Xxh3BlockHasher(blockSize));
            memory = RadixMemory.create(new RadixConfig(
                    pageSize, NUM_TOKENS, false, true, RadixEvictionPolicy.LRU, 0, false, window, hierarchy));
            memory.tell(log);
        }

        /** Returns what has changed, block by block. */
        List<KvEvent> published() {
            var events = new ArrayList<KvEvent>();
            for (var event : log.drain()) {
                if (event instanceof KvEvent.StoredEach each) {
                    for (int i = 0; i < each.blockHashes().size(); i++) {
                        events.add(each.block(i, blockSize));
                    }
                } else {
                    events.add(event);
                }
            }
            return events;
        }

        /** Runs a request with its prompt and one output token to its end. */
        void run(Prompt prompt) {
            var lookup = RadixLookup.of(numRequests++, prompt, index -> 1_000 + index, 0);
            var sequence = memory.open(lookup);
            memory.match(sequence, prompt.length() - 1);
            memory.loadBack(sequence);
            memory.startLoading();
            memory.admit(sequence, prompt.length());
            var batch = new ObjectArrayList<RadixSequence>();
            batch.add(sequence);
            memory.extend(batch);
            memory.cacheUnfinished(lookup.handle(), false);
            memory.decode(new int[] {lookup.handle()}, 1);
            memory.release(lookup.handle(), true);
            memory.acknowledgeWrites();
            memory.acknowledgeLoads();
        }
    }

    /** Two prompts that part behind 6 tokens: pages of 4 share the first; the rest of each is a page of its own. */
    @Test
    void eventsAreOnePerPageStored_andOnePerNodeRemoved() {
        var cache = new Cache(4, 4);
        cache.run(prompt(1, 2, 3, 4, 5, 6, 7, 8));
        assertThat(cache.published())
                .hasSize(2)
                .allSatisfy(event -> assertThat(event)
                        .isInstanceOfSatisfying(
                                KvEvent.Stored.class,
                                stored ->
                                        assertThat(stored.blockHashes().size()).isEqualTo(1)));
        cache.run(prompt(1, 2, 3, 4, 5, 6, 9, 9));
        assertThat(cache.published()).hasSize(1);

        // The second page of each goes, then the one that they share: three nodes.
        cache.memory.makeRoom(NUM_TOKENS);

        assertThat(cache.published())
                .hasSize(3)
                .allSatisfy(event -> assertThat(event)
                        .isInstanceOfSatisfying(
                                KvEvent.Removed.class,
                                removed ->
                                        assertThat(removed.blockHashes().size()).isEqualTo(1)));
    }

    /**
     * A prompt of 12 tokens and its answer of one make nodes of 12 and 1. They are stored on the device, then copied; when
     * they leave the device the copies stay, and for a prompt of 14 tokens the 12 are loaded back.
     */
    @Test
    void copies_areToldOfBothMemories() {
        var cache = new Cache(1, 4, null, hierarchy(RadixConfig.WritePolicy.WRITE_THROUGH, 500));
        var tokens = IntStream.range(0, 14).toArray();
        cache.run(prompt(Arrays.copyOf(tokens, 12)));
        var stored = cache.published();
        assertThat(stored).hasSize(4);
        var hashes = new LongArrayList();
        for (int i = 0; i < 3; i++) {
            hashes.add(((KvEvent.Stored) stored.get(i)).blockHashes().getLong(0));
        }
        assertThat(stored.get(3)).isEqualTo(new KvEvent.HostStored(hashes));

        cache.memory.makeRoom(NUM_TOKENS);
        assertThat(cache.published()).containsExactly(new KvEvent.Removed(hashes));

        cache.run(prompt(tokens));
        var loaded = cache.published();
        // The prompt's last full block is the one of 12 tokens; 14 are no more, and the answer's first makes 15.
        assertThat(loaded).hasSize(3);
        for (int i = 0; i < 3; i++) {
            var one = (KvEvent.Stored) loaded.get(i);
            assertThat(one.blockHashes().toLongArray()).containsExactly(hashes.getLong(i));
            assertThat(one.firstToken()).isEqualTo(4 * i);
            assertThat(one.hasParent()).isEqualTo(i > 0);
            assertThat(one.parentHash()).isEqualTo(i == 0 ? 0 : hashes.getLong(i - 1));
        }
    }

    /**
     * Of 14 tokens 13 come from the storage, with 3 blocks of 4, and are told of on the host. When they are loaded they are told
     * of on the device, and what made room on the host for 490 tokens is told, too.
     */
    @Test
    void tokensOfTheStorage_areToldOfAsCopies() {
        var storage = new RadixConfig.Storage(KvSource.STORE, RadixConfig.PrefetchPolicy.BEST_EFFORT, 10, 0, 0);
        var cache = new Cache(
                1,
                4,
                null,
                new RadixConfig.Hierarchy(500, RadixConfig.WritePolicy.WRITE_THROUGH_SELECTIVE, 0, 0, null, storage));
        var prompt = prompt(IntStream.range(0, 14).toArray());
        fetch(cache.memory, prompt, 13);

        var hashes = new LongArrayList(Arrays.copyOf(prompt.blockHashes(new Xxh3BlockHasher(4)), 3));
        assertThat(cache.published()).containsExactly(new KvEvent.HostStored(hashes));
        cache.run(prompt);
        assertThat(cache.published())
                .hasSize(3)
                .allSatisfy(event -> assertThat(event).isInstanceOf(KvEvent.Stored.class));

        cache.memory.makeRoom(NUM_TOKENS);
        fetch(cache.memory, prompt(IntStream.range(100, 590).toArray()), 490);
        assertThat(cache.published()).contains(new KvEvent.Removed(hashes), new KvEvent.HostRemoved(hashes));
    }

    private static void fetch(RadixMemory memory, Prompt prompt, int numFound) {
        var storage = Objects.requireNonNull(memory.storage());
        for (var word : storage.takeWords()) {
            if (word instanceof StorageWord.Prepare prepare) {
                storage.onPrepared(prepare.job(), 0);
            }
        }
        memory.beginFetch(RadixLookup.of(7, prompt, index -> 1_000 + index, 0), 7, prompt.length());
        long job = ((StorageWord.Find) storage.takeWords().get(0)).job();
        storage.onFound(job, numFound);
        for (int numPages = 0; numPages < numFound; numPages += 128) {
            storage.onMoved(job, false);
        }
        memory.endFetch(7);
    }

    private static RadixConfig.Hierarchy hierarchy(RadixConfig.WritePolicy policy, int hostTokens) {
        return new RadixConfig.Hierarchy(hostTokens, policy, 0, 0, null, null);
    }

    /**
     * The same with copies: the host's blocks are those of nodes with a copy. What is on the device is told but for what was
     * inserted through nodes on the host alone; too little for a load, in runs of less than 10 tokens.
     */
    @ParameterizedTest
    @CsvSource({
        "1, 4, WRITE_THROUGH",
        "4, 4, WRITE_THROUGH",
        "4, 6, WRITE_THROUGH_SELECTIVE",
        "1, 4, WRITE_BACK",
        "2, 8, WRITE_BACK"
    })
    void followerOfTheEvents_knowsTheCopies(int pageSize, int blocks, RadixConfig.WritePolicy policy) {
        var tested = new Cache(pageSize, blocks, null, hierarchy(policy, 160));
        var random = new SplittableRandom(7);
        var onDevice = new LongOpenHashSet();
        var onHost = new LongArrayList();
        for (int i = 0; i < 400; i++) {
            int length = 12 + random.nextInt(30);
            int parting = random.nextInt(length + 1);
            int branch = random.nextInt(5);
            tested.run(new Prompt(new TokenIds(IntStream.range(0, length)
                    .map(at -> at < parting ? at : at + 100 * branch)
                    .toArray())));
            for (var event : tested.published()) {
                if (event instanceof KvEvent.Stored stored) {
                    onDevice.addAll(stored.blockHashes());
                } else if (event instanceof KvEvent.Removed removed) {
                    onDevice.removeAll(removed.blockHashes());
                } else if (event instanceof KvEvent.HostStored stored) {
                    onHost.addAll(stored.keys());
                } else if (event instanceof KvEvent.HostRemoved removed) {
                    removed.keys().forEach(hash -> assertThat(onHost.rem(hash)).isTrue());
                }
            }
            var copied = new LongArrayList();
            var there = new LongOpenHashSet();
            for (var node : tested.memory.tree().nodes()) {
                for (long hash : node.blocks) {
                    if (node.hostPages != null) {
                        copied.add(hash);
                    }
                    if (node.isOnDevice()) {
                        there.add(hash);
                    }
                }
            }
            assertThat(onHost.longStream().sorted().toArray())
                    .isEqualTo(copied.longStream().sorted().toArray());
            assertThat(there.containsAll(onDevice)).isTrue();
            assertThat(RadixAudit.of(tested.memory).isConserved()).isTrue();
        }
        assertThat(tested.memory.numRemoved()).isPositive();
    }

    /**
     * Whatever is stored, split and removed: who follows the events knows the blocks of the tree. Where prompts part inside of a
     * page, blocks that are smaller are there twice.
     */
    @ParameterizedTest
    @CsvSource({
        "1, 1, 0",
        "1, 4, 0",
        "4, 4, 0",
        "4, 1, 0",
        "4, 6, 0",
        "2, 8, 0",
        "1, 1, 6",
        "4, 4, 16",
        "4, 6, 8",
        "1, 3, 6"
    })
    void followerOfTheEvents_knowsTheBlocks(int pageSize, int blocks, int windowSize) {
        var window = windowSize == 0 ? null : new RadixConfig.Window(windowSize, 0.8);
        var tested = new Cache(pageSize, blocks, window, null);
        var random = new SplittableRandom(7);
        var known = new LongArrayList();
        for (int i = 0; i < 400; i++) {
            int length = 1 + random.nextInt(40);
            int parting = random.nextInt(length + 1);
            int branch = random.nextInt(3);
            tested.run(new Prompt(new TokenIds(IntStream.range(0, length)
                    .map(at -> at < parting ? at : at + 100 * branch)
                    .toArray())));
            for (var event : tested.published()) {
                if (event instanceof KvEvent.Stored stored) {
                    stored.blockHashes()
                            .forEach(hash -> assertThat(known.add(hash)).isTrue());
                    assertThat(stored.firstToken() % blocks).isZero();
                } else if (event instanceof KvEvent.Removed removed) {
                    for (int j = 0; j < removed.blockHashes().size(); j++) {
                        assertThat(known.rem(removed.blockHashes().getLong(j))).isTrue();
                    }
                }
            }
            var inTree = new LongArrayList();
            for (var node : tested.memory.tree().nodes()) {
                for (long hash : node.blocks) {
                    inTree.add(hash);
                }
            }
            assertThat(known.longStream().sorted().toArray())
                    .isEqualTo(inTree.longStream().sorted().toArray());
            assertThat(RadixAudit.of(tested.memory).isConserved()).isTrue();
        }
        assertThat(tested.memory.numRemoved()).isPositive();
    }

    /** The blocks that are told are those of the prompt. */
    @Test
    void hashes_areThoseOfThePrompt() {
        var prompt = prompt(1, 2, 3, 4, 5, 6, 7, 8);

        var cache = new Cache(4, 4);

        cache.run(prompt);

        assertThat(cache.published().stream()
                        .map(event -> ((KvEvent.Stored) event).blockHashes().getLong(0)))
                .containsExactly(
                        prompt.blockHashes(new Xxh3BlockHasher(4))[0], prompt.blockHashes(new Xxh3BlockHasher(4))[1]);
    }
}
