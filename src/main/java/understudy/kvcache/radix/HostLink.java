package understudy.kvcache.radix;

import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.LongArrayFIFOQueue;
import understudy.transfer.SharedBandwidth;

/**
 * Link between each GPU of a replica and the host, in virtual time. Copies of one direction go one after the other, as on
 * SGLang's streams; both directions share what the link carries in all.
 */
final class HostLink {
    private final RadixConfig.HostLinkSpec spec;
    private final SharedBandwidth bandwidth;

    /** Bytes of the copies of each direction that are not through, the first of which are under way. */
    private final LongArrayFIFOQueue[] copies = {new LongArrayFIFOQueue(), new LongArrayFIFOQueue()};

    private final long[] numBegun = new long[2];
    private final long[] numEnded = new long[2];
    private final long[] begunBytes = new long[2];
    private long nowNanos;

    /** Direction of a copy, with the port of the link that it takes. */
    enum Way {
        LOAD(0),
        WRITE(1);

        private final int port;

        Way(int port) {
            this.port = port;
        }
    }

    HostLink(RadixConfig.HostLinkSpec spec) {
        this.spec = spec;
        bandwidth = new SharedBandwidth();
        bandwidth.add(spec.ports());
    }

    /** Lets time pass; a time that is over already changes nothing. */
    void advance(long toNanos) {
        while (bandwidth.nextEndNanos() <= toNanos) {
            endNext();
        }
        nowNanos = Math.max(nowNanos, toNanos);
    }

    private void endNext() {
        nowNanos = Math.max(nowNanos, bandwidth.nextEndNanos());
        bandwidth.endedBy(nowNanos).forEach(way -> {
            copies[(int) way].dequeueLong();
            numEnded[(int) way]++;
            startFirst((int) way);
        });
    }

    private void startFirst(int way) {
        if (!copies[way].isEmpty()) {
            bandwidth.start(way, IntList.of(way), copies[way].firstLong(), nowNanos);
        }
    }

    /** Begins a copy, and returns its number among those of its direction, from 0. */
    long begin(Way way, int numTokens) {
        int port = way.port;
        long bytes = Math.round(numTokens * spec.bytesPerToken());
        copies[port].enqueue(bytes);
        begunBytes[port] += bytes;
        if (copies[port].size() == 1) {
            startFirst(port);
        }
        return numBegun[port]++;
    }

    /** Returns whether a copy is through. */
    boolean isDone(Way way, long number) {
        return number < numEnded[way.port];
    }

    /** Lets time pass until all copies of a direction are through, and returns how long that takes. */
    long await(Way way) {
        long since = nowNanos;
        while (!copies[way.port].isEmpty()) {
            endNext();
        }
        return nowNanos - since;
    }

    /** Returns how long it takes until all copies of a direction are through if no other ones are begun. */
    long nanosUntilDone(Way way) {
        var ahead = new SharedBandwidth();
        ahead.add(spec.ports());
        for (int port = 0; port < copies.length; port++) {
            long rest = begunBytes[port] - bandwidth.bytesMoved(port);
            ahead.start(port, IntList.of(port), rest, 0);
        }
        long atNanos = ahead.nextEndNanos();
        while (!ahead.endedBy(atNanos).contains(way.port)) {
            atNanos = ahead.nextEndNanos();
        }
        return atNanos;
    }
}
