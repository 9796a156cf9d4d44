package understudy.kvcache.radix;

import io.soabase.recordbuilder.core.RecordBuilder;
import it.unimi.dsi.fastutil.ints.IntList;
import org.jspecify.annotations.Nullable;

/**
 * Node of the tree as it is now.
 *
 * @param id number that no other node has
 * @param parentId number of the node above, or -1 below the root
 * @param extraKey name of its space, or empty
 * @param key tokens of its first page; with a draft model one more
 * @param numTokens its length
 * @param pages on the device, or null
 * @param hostPages of the copy on the host, or null
 * @param hasWindow whether the KV of layers with a window is there, too
 */
@RecordBuilder
public record RadixNodeState(
        int id,
        int parentId,
        String extraKey,
        IntList key,
        int numTokens,
        int locks,
        int windowLocks,
        int hits,
        long priority,
        @Nullable IntList pages,
        @Nullable IntList hostPages,
        boolean hasWindow) {}
