package understudy.kvcache;

import it.unimi.dsi.fastutil.ints.IntList;
import java.util.List;

/**
 * Content of a KV cache at one moment.
 *
 * @param blockTables block ids of the requests that were asked for, in the order of the question; with several
 *     {@link KvGroups} the tables of all of them, one behind the other, with -1 behind each
 * @param numFreeBlocks blocks without references
 * @param numStored blocks cached while steps were planned, since the start; without those cached by a step's result
 * @param numRemoved cached blocks that were given out again, since the start
 */
public record KvSnapshot(List<IntList> blockTables, int numFreeBlocks, long numStored, long numRemoved) {}
