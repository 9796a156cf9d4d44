package understudy.kvcache.connector;

import it.unimi.dsi.fastutil.longs.LongList;

/**
 * Change of the content of a host's memory.
 *
 * @param isStored whether the chunks can be found from now on; else no more
 * @param keys hashes of their last blocks
 */
public record TierChange(boolean isStored, LongList keys) {}
