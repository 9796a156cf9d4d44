package understudy.kvcache.radix;

import it.unimi.dsi.fastutil.longs.LongImmutableList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.kvcache.KvEvent;
import understudy.prompt.BlockHasher;
import understudy.prompt.BlockRoom;
import understudy.prompt.Prompt;
import understudy.prompt.TokenSource;

/**
 * Changes of the tree, told as blocks (SGLang {@code _record_store_event}, {@code _record_remove_event}): one event for
 * the blocks of a node that has become findable, which SGLang publishes one by one, and one for each node that was removed. A block belongs to the node in which it
 * ends, so that blocks need not be pages: with larger ones a node may have none, with smaller ones several for a page.
 *
 * <p>With a sliding window they tell of the layers with full attention. What is inserted through a node that is on the host
 * alone is not told, as in SGLang.
 */
final class BlockEvents {
    private final BlockHasher hasher;
    private final int blockSize;
    private final BlockRoom room = new BlockRoom();
    private List<KvEvent> events = new ArrayList<>();
    private @Nullable RadixLookup source;

    BlockEvents(BlockHasher hasher) {
        this.hasher = hasher;
        blockSize = hasher.blockSize();
    }

    /** Sets which request's tokens are inserted from now on. */
    void begin(RadixLookup lookup) {
        source = lookup;
    }

    /** A leaf of the request whose tokens are inserted has come to the tree. */
    void onStored(RadixNode leaf) {
        var lookup = source;
        int first = leaf.from / blockSize;
        if (lookup == null || !setHashes(leaf, lookup)) {
            return;
        }
        addStored(leaf, first == 0 ? 0 : hashes(lookup.prompt(), lookup.tokens(), first - 1, first)[0]);
    }

    /** A leaf of a request has come to the host from the storage behind it. */
    void onFetched(RadixNode leaf, RadixLookup lookup) {
        if (setHashes(leaf, lookup)) {
            onHostStored(new LongImmutableList(leaf.blockHashes));
        }
    }

    /** Sets the hashes of a leaf's blocks; returns whether there are any. */
    private boolean setHashes(RadixNode leaf, RadixLookup lookup) {
        int first = leaf.from / blockSize;
        int end = (leaf.from + leaf.length) / blockSize;
        if (first == end) {
            return false;
        }
        leaf.blockHashes = hashes(lookup.prompt(), lookup.tokens(), first, end);
        leaf.loraName = lookup.prompt().loraName();
        leaf.cacheSalt = lookup.prompt().cacheSalt();
        return true;
    }

    private void addStored(RadixNode node, long parentOfFirst) {
        if (node.blockHashes.length > 0) {
            int first = node.from / blockSize;
            events.add(new KvEvent.StoredEach(new KvEvent.Stored(
                    new LongImmutableList(node.blockHashes),
                    first > 0,
                    parentOfFirst,
                    node.tokens,
                    first * blockSize,
                    node.loraName,
                    node.cacheSalt)));
        }
    }

    /** A node has come back to the device. */
    void onLoaded(RadixNode node) {
        var above = node.parent;
        while (above != null && above.blockHashes.length == 0) {
            above = above.parent;
        }
        addStored(node, above == null ? 0 : above.blockHashes[above.blockHashes.length - 1]);
    }

    /** Blocks can be found on the host. */
    void onHostStored(LongList blockHashes) {
        if (!blockHashes.isEmpty()) {
            events.add(new KvEvent.HostStored(blockHashes));
        }
    }

    /** A node has left the host. */
    void onHostRemoved(RadixNode node) {
        if (node.blockHashes.length > 0) {
            events.add(new KvEvent.HostRemoved(new LongImmutableList(node.blockHashes)));
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
            long hash = chain.next(tokens, i * blockSize, room);
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
        upper.loraName = lower.loraName;
        upper.cacheSalt = lower.cacheSalt;
    }

    /** A node has left the device. */
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
