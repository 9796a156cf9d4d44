package understudy.kvcache.hybrid;

import it.unimi.dsi.fastutil.ints.Int2ObjectOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import java.util.Arrays;
import java.util.function.LongConsumer;
import understudy.kvcache.content.KvEventLog;
import understudy.kvcache.eviction.PrefixTable;

/**
 * Keys of the prefix table, which stand for a group and a hash: the same tokens are stored once for each group. A block
 * larger than a hash may have one key more, for the end of a prompt within it; no lookup uses that key, but it counts.
 */
final class GroupKeys extends KvEventLog {
    private static final long NEXT_GROUP = 0x9E3779B97F4A7C15L;
    private static final long PROMPT_END = 0xD1B54A32D192ED03L;

    private static final LongArrayList NONE = new LongArrayList();

    /** The group of each block that was ever inserted; it grows with them. */
    private byte[] groupOf = {};

    private final Int2ObjectOpenHashMap<LongArrayList> promptEnds = new Int2ObjectOpenHashMap<>();

    /** Keys put into the table since planning of the current step began. */
    private final LongOpenHashSet fresh = new LongOpenHashSet();

    private long step = -1;
    private int numSecondKeysLost;

    GroupKeys(boolean recordsEvents) {
        super(recordsEvents);
    }

    /** Begins the planning of a step: blocks of earlier steps are no longer fresh. */
    void begin(long plannedStep) {
        if (plannedStep != step) {
            step = plannedStep;
            fresh.clear();
        }
    }

    static long key(int group, long hash) {
        return hash ^ group * NEXT_GROUP;
    }

    void insert(PrefixTable table, int block, int group, long hash, long conversation) {
        setGroup(block, group);
        table.insert(block, key(group, hash), conversation);
        fresh.add(key(group, hash));
    }

    private void setGroup(int block, int group) {
        if (block >= groupOf.length) {
            groupOf = Arrays.copyOf(groupOf, Math.max(64, block * 2));
        }
        groupOf[block] = (byte) group;
    }

    /** Returns whether a block was made findable in the step that is being planned. */
    boolean isFresh(PrefixTable table, int block) {
        return table.isHashed(block) && fresh.contains(table.hashOf(block));
    }

    /** Returns whether a block carries a key, its own or that of a prompt's end. */
    boolean isTrue(PrefixTable table, int block, long key) {
        return table.hashOf(block) == key || promptEndsOf(block).contains(table.hashOf(block));
    }

    private LongArrayList promptEndsOf(int block) {
        return promptEnds.getOrDefault(block, NONE);
    }

    /**
     * Gives a block the key of a prompt's end, next to its own if it has one.
     *
     * @return whether it did not have that yet
     */
    boolean insertPromptEnd(PrefixTable table, int block, int group, long hash, long conversation) {
        long key = key(group, hash) ^ PROMPT_END;
        if (promptEndsOf(block).contains(key)) {
            return false;
        }
        setGroup(block, group);
        promptEnds.computeIfAbsent(block, b -> new LongArrayList()).add(key);
        if (!table.isHashed(block)) {
            table.insert(block, key, conversation);
        }
        return true;
    }

    /** Returns how many second keys have been lost since the start. */
    int numSecondKeysLost() {
        return numSecondKeysLost;
    }

    /** Passes on the second keys of blocks. */
    void forEachSecondKey(PrefixTable table, LongConsumer consumer) {
        promptEnds.forEach((block, ends) -> ends.forEach(key -> {
            if (table.hashOf(block) != key) {
                consumer.accept(key);
            }
        }));
    }

    @Override
    protected void removed(int block, long key) {
        int group = groupOf[block];
        var ends = promptEnds.remove(block);
        boolean isEnd = ends != null && ends.contains(key);
        removedFrom(group, key(group, isEnd ? key ^ PROMPT_END : key));
        if (ends != null && !isEnd) {
            ends.forEach(end -> removedFrom(group, key(group, end ^ PROMPT_END)));
            numSecondKeysLost += ends.size();
        }
    }

    @Override
    protected void cleared() {
        promptEnds.clear();
        super.cleared();
    }
}
