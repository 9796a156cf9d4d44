package understudy.kvcache.radix;

import it.unimi.dsi.fastutil.longs.LongImmutableList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.kvcache.KvEvent;
import understudy.prompt.BlockHasher;
import understudy.prompt.Prompt;
import understudy.prompt.TokenSource;

/**
 * Changes of the tree, told as blocks (SGLang {@code _record_store_event}, {@code _record_remove_event}): one event for
 * each block that has become findable, and one for each node that was removed. A block belongs to the node in which it
 * ends, so that blocks need not be pages: with larger ones a node may have none, with smaller ones several for a page.
 */
final class BlockEvents {
    private final BlockHasher hasher;
    private final int blockSize;
    private final int[] block;
    private List<KvEvent> events = new ArrayList<>();
    private @Nullable RadixLookup source;

    BlockEvents(BlockHasher hasher) {
        this.hasher = hasher;
        blockSize = hasher.blockSize();
        block = new int[blockSize];
    }

    /** Sets which request's tokens are inserted from now on. */
    void begin(RadixLookup lookup) {
        source = lookup;
    }

    /** A leaf of the request whose tokens are inserted has come to the tree. */
    void onStored(RadixNode leaf) {
        var lookup = source;
        int first = leaf.from / blockSize;
        int count = (leaf.from + leaf.length) / blockSize - first;
        if (lookup == null || count == 0) {
            return;
        }
        var prompt = lookup.prompt();
        leaf.blockHashes = hashes(prompt, lookup.tokens(), first, first + count);
        long parent = first == 0 ? 0 : hashes(prompt, lookup.tokens(), first - 1, first)[0];
        for (int i = 0; i < count; i++) {
            events.add(new KvEvent.Stored(
                    LongList.of(leaf.blockHashes[i]),
                    first + i > 0,
                    parent,
                    leaf.tokens,
                    (first + i) * blockSize,
                    prompt.loraName(),
                    prompt.cacheSalt()));
            parent = leaf.blockHashes[i];
        }
    }

    private long[] hashes(Prompt prompt, TokenSource tokens, int from, int to) {
        long[] ofPrompt = prompt.blockHashes(hasher);
        if (to <= ofPrompt.length) {
            return Arrays.copyOfRange(ofPrompt, from, to);
        }
        var hashes = new long[to - from];
        for (int i = from; i < Math.min(to, ofPrompt.length); i++) {
            hashes[i - from] = ofPrompt[i];
        }
        var chain = prompt.chainEnd(hasher);
        for (int i = ofPrompt.length; i < to; i++) {
            tokens.copy(i * blockSize, blockSize, block, 0);
            long hash = chain.next(block);
            if (i >= from) {
                hashes[i - from] = hash;
            }
        }
        return hashes;
    }

    /** The upper part of a node has become a node of its own. */
    void onSplit(RadixNode upper, RadixNode lower) {
        int count = lower.from / blockSize - upper.from / blockSize;
        if (lower.blockHashes.length > 0) {
            upper.blockHashes = Arrays.copyOf(lower.blockHashes, count);
            lower.blockHashes = Arrays.copyOfRange(lower.blockHashes, count, lower.blockHashes.length);
        }
    }

    /** A node has left the tree. */
    void onRemoved(RadixNode node) {
        if (node.blockHashes.length > 0) {
            events.add(new KvEvent.Removed(new LongImmutableList(node.blockHashes)));
        }
    }

    /** The tree was emptied. */
    void onCleared() {
        events.add(new KvEvent.Cleared());
    }

    /** Returns what has changed since the last call, in order. */
    List<KvEvent> drain() {
        if (events.isEmpty()) {
            return List.of();
        }
        var drained = List.copyOf(events);
        events = new ArrayList<>();
        return drained;
    }
}
