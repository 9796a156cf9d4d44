package understudy.transfer;

import it.unimi.dsi.fastutil.longs.LongList;

/**
 * Ports of one device, such as the two ways of a NIC or of PCIe.
 *
 * @param bytesPerSecond the capacity of each port, from 1 to {@link #MAX_BYTES_PER_SECOND}
 * @param togetherBytesPerSecond most that all ports carry at the same time, in the same range
 */
public record PortGroup(LongList bytesPerSecond, long togetherBytesPerSecond) {
    public static final long MAX_BYTES_PER_SECOND = 1_000_000_000_000_000L;

    public PortGroup {
        bytesPerSecond.forEach(PortGroup::check);
        check(togetherBytesPerSecond);
    }

    /** Returns ports that leave each other alone. */
    public static PortGroup of(long... bytesPerSecond) {
        return new PortGroup(LongList.of(bytesPerSecond), MAX_BYTES_PER_SECOND);
    }

    boolean isLimitedTogether() {
        return togetherBytesPerSecond < bytesPerSecond.longStream().sum();
    }

    private static void check(long bytesPerSecond) {
        if (bytesPerSecond < 1 || bytesPerSecond > MAX_BYTES_PER_SECOND) {
            throw new IllegalArgumentException("bytes per second: " + bytesPerSecond);
        }
    }
}
