package understudy.kvcache.radix;

import it.unimi.dsi.fastutil.longs.LongList;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.kvcache.KvEvent;
import understudy.prompt.BlockHasher;
import understudy.prompt.BlockRoom;
import understudy.prompt.HashPath;
import understudy.prompt.HashRun;
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
        if (lookup != null) {
            setBlocks(leaf, lookup);
            addStored(leaf);
        }
    }

    /** A leaf of a request has come to the host from the storage behind it. */
    void onFetched(RadixNode leaf, RadixLookup lookup) {
        setBlocks(leaf, lookup);
        onHostStored(leaf.blocks);
    }

    private void setBlocks(RadixNode leaf, RadixLookup lookup) {
        int first = leaf.from / blockSize;
        int end = (leaf.from + leaf.length) / blockSize;
        if (first < end) {
            leaf.blocks = new HashRun(path(lookup.prompt(), lookup.tokens(), end), first, end);
            leaf.loraName = lookup.prompt().loraName();
            leaf.cacheSalt = lookup.prompt().cacheSalt();
        }
    }

    private void addStored(RadixNode node) {
        if (!node.blocks.isEmpty()) {
            events.add(new KvEvent.StoredEach(node.blocks, node.tokens, node.loraName, node.cacheSalt));
        }
    }

    /** A node has come back to the device. */
    void onLoaded(RadixNode node) {
        addStored(node);
    }

    /** Blocks can be found on the host. */
    void onHostStored(LongList blockHashes) {
        if (!blockHashes.isEmpty()) {
            events.add(new KvEvent.HostStored(blockHashes));
        }
    }

    /** A node has left the host. */
    void onHostRemoved(RadixNode node) {
        if (!node.blocks.isEmpty()) {
            events.add(new KvEvent.HostRemoved(node.blocks));
        }
    }

    /** Returns the hashes of so many blocks, or of more. */
    private HashPath path(Prompt prompt, TokenSource tokens, int count) {
        var ofPrompt = prompt.hashPath(hasher);
        int numOfPrompt = ofPrompt.length();
        if (count <= numOfPrompt) {
            return ofPrompt;
        }
        var ofAnswer = new long[count - numOfPrompt];
        var chain = prompt.chainEnd(hasher);
        for (int i = 0; i < ofAnswer.length; i++) {
            ofAnswer[i] = chain.next(tokens, (numOfPrompt + i) * blockSize, room);
        }
        return ofPrompt.goingOn(numOfPrompt, ofAnswer);
    }

    /** The upper part of a node has become a node of its own. */
    void onSplit(RadixNode upper, RadixNode lower) {
        int count = lower.from / blockSize - upper.from / blockSize;
        if (!lower.blocks.isEmpty()) {
            upper.blocks = lower.blocks.first(count);
            lower.blocks = lower.blocks.withoutFirst(count);
        }
        upper.loraName = lower.loraName;
        upper.cacheSalt = lower.cacheSalt;
    }

    /** A node has left the device. */
    void onRemoved(RadixNode node) {
        if (!node.blocks.isEmpty()) {
            events.add(new KvEvent.Removed(node.blocks));
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
