package understudy.kvcache.hybrid;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.util.List;
import java.util.stream.Stream;
import understudy.kvcache.KvEvent;
import understudy.kvcache.PrefixLookup;
import understudy.kvcache.content.BlockPool;
import understudy.kvcache.content.HashedSequence;
import understudy.kvcache.eviction.PrefixTable;
import understudy.prompt.BlockHasher;
import understudy.prompt.BlockRoom;

/** State of one request in a memory with several groups: a block table for each. */
final class HybridSequence extends HashedSequence {
    private final List<GroupManager> groups;
    private final List<GroupTable> tables;
    private final int hashBlockSize;
    private int numJunctionTokens;

    HybridSequence(PrefixLookup lookup, BlockHasher hasher, BlockRoom room, List<GroupManager> groups) {
        super(lookup.prompt(), lookup.output(), hasher, room);
        this.groups = groups;
        tables = Stream.generate(GroupTable::new).limit(groups.size()).toList();
        hashBlockSize = hasher.blockSize();
    }

    GroupTable table(int group) {
        return tables.get(group);
    }

    /** Returns where a cached prefix ended, at the last look, for some groups only; 0 for nowhere. */
    int numJunctionTokens() {
        return numJunctionTokens;
    }

    void setNumJunctionTokens(int count) {
        numJunctionTokens = count;
    }

    /** Returns the end of the last whole hash within the prompt, in tokens. */
    int promptHashEnd() {
        return numPromptTokens() - numPromptTokens() % hashBlockSize;
    }

    /** Returns the hash of all tokens before a position, which is a multiple of the tokens per hash. */
    long hashUpTo(int numTokens) {
        return hashOf(numTokens / hashBlockSize - 1);
    }

    /** Returns the event that a group has made a range findable. */
    KvEvent.Stored stored(LongList hashes, int firstToken, KvEvent.GroupRange range) {
        return stored(hashes, firstToken == 0 ? 0 : hashUpTo(firstToken), firstToken, range);
    }

    @Override
    protected void releaseTo(BlockPool pool, long lastStep) {
        tables.forEach(table -> table.releaseTo(pool, lastStep));
    }

    /** Returns the tables of all groups, one behind the other; with several, -1 stands behind each. */
    @Override
    protected int[] blockTable() {
        var all = new IntArrayList();
        for (var table : tables) {
            table.addTo(all);
            if (tables.size() > 1) {
                all.add(-1);
            }
        }
        return all.toIntArray();
    }

    @Override
    protected void countReferences(int[] refCounts) {
        for (var table : tables) {
            for (int i = 0; i < table.size(); i++) {
                refCounts[table.block(i)] += table.isNull(i) ? 0 : 1;
            }
        }
    }

    @Override
    protected int countBadHashes(PrefixTable prefixTable) {
        int numBad = 0;
        for (var group : groups) {
            numBad += group.countBadHashes(this);
        }
        return numBad;
    }
}
