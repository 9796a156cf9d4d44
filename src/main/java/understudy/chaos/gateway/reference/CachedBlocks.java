package understudy.chaos.gateway.reference;

import it.unimi.dsi.fastutil.longs.Long2LongOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongList;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.kvcache.KvEvent;
import understudy.prompt.BlockRoom;
import understudy.prompt.HashChain;
import understudy.prompt.Prompt;
import understudy.prompt.TokenIds;
import understudy.prompt.TokenSource;
import understudy.prompt.Xxh3BlockHasher;

/**
 * Blocks that a replica has cached, as its KV events tell. Blocks are known by a hash of our own over their tokens and all
 * before them, since an engine's hashes depend on its algorithm and seed (as in llm-d's KV cache indexer, which maps engine
 * keys to request keys). A block whose parent is unknown is left out. Copies of a block are not counted.
 */
final class CachedBlocks {
    private static final int USUAL_BLOCK_SIZE = 16;

    private final WrongDecision wrong;
    private final Long2LongOpenHashMap keys = new Long2LongOpenHashMap();
    private final LongOpenHashSet held = new LongOpenHashSet();
    private int blockSize = USUAL_BLOCK_SIZE;

    CachedBlocks(WrongDecision wrong) {
        this.wrong = wrong;
    }

    /** Forgets all blocks. */
    void clear() {
        keys.clear();
        held.clear();
    }

    /** Applies events in order. */
    void apply(List<KvEvent> events) {
        for (var event : events) {
            if (event instanceof KvEvent.Stored stored) {
                store(stored);
            } else if (event instanceof KvEvent.Removed removed) {
                removed.blockHashes().forEach(this::remove);
            } else if (event instanceof KvEvent.Cleared) {
                clear();
            }
        }
    }

    private void store(KvEvent.Stored stored) {
        var hashes = stored.blockHashes();
        var tokens = (TokenIds) stored.tokens();
        int size = tokens.length() / hashes.size();
        if (size == 0) {
            return;
        }
        if (size != blockSize) {
            clear();
            blockSize = size;
        }
        var chain = chain(stored);
        if (chain != null) {
            store(hashes, tokens, chain);
        }
    }

    private void store(LongList hashes, TokenSource tokens, HashChain chain) {
        var room = new BlockRoom();
        for (int i = 0; i < hashes.size(); i++) {
            long key = chain.next(tokens, i * blockSize, room);
            keys.put(hashes.getLong(i), key);
            held.add(key);
        }
    }

    private @Nullable HashChain chain(KvEvent.Stored stored) {
        var hasher = new Xxh3BlockHasher(blockSize);
        if (!stored.hasParent()) {
            return hasher.start(new Prompt((TokenIds) stored.tokens(), stored.loraName(), stored.cacheSalt()));
        }
        return keys.containsKey(stored.parentHash()) ? hasher.resume(keys.get(stored.parentHash())) : null;
    }

    private void remove(long hash) {
        if (keys.containsKey(hash)) {
            held.remove(keys.remove(hash));
        }
    }

    /** Returns how many leading tokens of a prompt are cached. */
    int tokens(Prompt prompt) {
        int size = wrong == WrongDecision.ASSUMES_BLOCK_SIZE ? USUAL_BLOCK_SIZE : blockSize;
        int numBlocks = 0;
        for (long key : prompt.blockHashes(new Xxh3BlockHasher(size))) {
            if (!held.contains(key)) {
                break;
            }
            numBlocks++;
        }
        return numBlocks * size;
    }
}
