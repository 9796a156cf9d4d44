package understudy.transfer;

import it.unimi.dsi.fastutil.longs.Long2LongOpenHashMap;
import it.unimi.dsi.fastutil.longs.Long2ObjectLinkedOpenHashMap;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;
import org.apache.commons.rng.UniformRandomProvider;

/**
 * Transfers on one link, from start to notification: the handshake of their endpoints, the posting of descriptors, the
 * bytes at their share of the bandwidth, and the notification.
 *
 * <p>A transfer fails if it stands still for too long, if a port fails that it crosses, or by chance. The times that
 * it is told must not go backwards.
 */
public final class Transfers {
    /** A transfer that has not ended, and when its phase ends, unless its bytes flow. */
    private static final class Progress {
        final Transfer transfer;
        final long startNanos;

        /** All, or fewer for one that fails then. */
        final long bytesToMove;

        long atNanos;
        long movedBytes;
        boolean areBytesThrough;

        Progress(Transfer transfer, long startNanos, long bytesToMove, long atNanos) {
            this.transfer = transfer;
            this.startNanos = startNanos;
            this.bytesToMove = bytesToMove;
            this.atNanos = atNanos;
        }

        boolean isToFail() {
            return bytesToMove < transfer.bytes();
        }

        long atNanos() {
            return atNanos;
        }

        long id() {
            return transfer.id();
        }
    }

    private final SharedBandwidth bandwidth = new SharedBandwidth();
    private final Long2ObjectLinkedOpenHashMap<Progress> transfers = new Long2ObjectLinkedOpenHashMap<>();

    /** Those before their first byte or after their last one. */
    private final TreeSet<Progress> timed =
            new TreeSet<>(Comparator.comparingLong(Progress::atNanos).thenComparingLong(Progress::id));

    private final Long2LongOpenHashMap handshakeEndNanos = new Long2LongOpenHashMap();
    private final List<TransferEnded> ended = new ArrayList<>();
    private final TransferCost cost;
    private final long timeoutNanos;
    private final UniformRandomProvider random;
    private double failShare;

    /** Creates a link without transfers; it draws from {@code random} once for each that starts. */
    public Transfers(LinkSpec spec, UniformRandomProvider random) {
        cost = spec.cost();
        timeoutNanos = spec.timeoutNanos();
        this.random = random;
        spec.groups().forEach(bandwidth::add);
    }

    /** Adds ports, which get the next numbers. */
    public void add(PortGroup group) {
        bandwidth.add(group);
    }

    /** Starts a transfer. One whose endpoints are in their handshake waits for its end. */
    public void start(Transfer transfer, long nowNanos) {
        advance(nowNanos);
        if (transfers.containsKey(transfer.id())) {
            throw new IllegalArgumentException("transfer " + transfer.id() + " has not ended");
        }
        var progress = new Progress(transfer, nowNanos, bytesToMove(transfer), firstByteNanos(transfer, nowNanos));
        transfers.put(transfer.id(), progress);
        timed.add(progress);
    }

    private long firstByteNanos(Transfer transfer, long nowNanos) {
        boolean isFirstOfPair = !handshakeEndNanos.containsKey(transfer.pair());
        if (isFirstOfPair) {
            handshakeEndNanos.put(transfer.pair(), nowNanos + cost.handshakeNanos());
        }
        long fromNanos = isFirstOfPair ? nowNanos : Math.max(nowNanos, handshakeEndNanos.get(transfer.pair()));
        return fromNanos + cost.beforeNanos(isFirstOfPair, transfer.numDescriptors());
    }

    /** One that fails by chance does so anywhere before its last byte. */
    private long bytesToMove(Transfer transfer) {
        double drawn = random.nextDouble();
        return drawn < failShare ? (long) (transfer.bytes() * (drawn / failShare)) : transfer.bytes();
    }

    /** Ends a transfer without a word, if it has not ended yet. */
    public void cancel(long id, long nowNanos) {
        advance(nowNanos);
        var progress = transfers.get(id);
        if (progress != null) {
            remove(progress, nowNanos);
        }
    }

    /** Changes the capacity of a port; see {@link SharedBandwidth#setFactor}. */
    public void setFactor(int port, double factor, long nowNanos) {
        advance(nowNanos);
        bandwidth.setFactor(port, factor, nowNanos);
    }

    /** Lets each transfer that starts from now on fail with this probability, 0 to 1, at first 0. */
    public void setFailShare(double share) {
        failShare = share;
    }

    /** Lets all transfers fail that cross a port and have not ended. */
    public void fail(int port, long nowNanos) {
        advance(nowNanos);
        List.copyOf(transfers.values()).stream()
                .filter(progress -> progress.transfer.ports().contains(port))
                .forEach(progress -> fail(progress, nowNanos));
    }

    /** Returns when something happens next, if nothing else starts; {@link Long#MAX_VALUE} for never. */
    public long nextNanos() {
        long nextNanos = bandwidth.nextEndNanos();
        if (!timed.isEmpty()) {
            nextNanos = Math.min(nextNanos, timed.first().atNanos);
        }
        long stillSinceNanos = bandwidth.stillSinceNanos();
        return stillSinceNanos == Long.MAX_VALUE ? nextNanos : Math.min(nextNanos, stillSinceNanos + timeoutNanos);
    }

    /** Returns the transfers that have ended and were not returned yet, in the order of their ends. */
    public List<TransferEnded> endedBy(long nowNanos) {
        advance(nowNanos);
        var result = List.copyOf(ended);
        ended.clear();
        return result;
    }

    private void advance(long toNanos) {
        for (long atNanos = nextNanos(); atNanos <= toNanos; atNanos = nextNanos()) {
            happenAt(atNanos);
        }
    }

    private void happenAt(long atNanos) {
        bandwidth.endedBy(atNanos).forEach(id -> onBytesThrough(transfers.get(id), atNanos));
        bandwidth.stillSince(atNanos - timeoutNanos).forEach(id -> fail(transfers.get(id), atNanos));
        while (!timed.isEmpty() && timed.first().atNanos <= atNanos) {
            onTime(timed.first(), atNanos);
        }
    }

    private void onBytesThrough(Progress progress, long nowNanos) {
        progress.movedBytes = progress.bytesToMove;
        if (progress.isToFail()) {
            fail(progress, nowNanos);
        } else {
            progress.areBytesThrough = true;
            progress.atNanos = nowNanos + cost.notifyNanos();
            timed.add(progress);
        }
    }

    private void onTime(Progress progress, long nowNanos) {
        if (progress.areBytesThrough) {
            end(progress, false, nowNanos);
        } else {
            timed.remove(progress);
            bandwidth.start(progress.id(), progress.transfer.ports(), progress.bytesToMove, nowNanos);
        }
    }

    private void fail(Progress progress, long nowNanos) {
        end(progress, true, nowNanos);
    }

    private void end(Progress progress, boolean isFailed, long nowNanos) {
        remove(progress, nowNanos);
        ended.add(new TransferEnded(progress.id(), isFailed, progress.startNanos, nowNanos, progress.movedBytes));
    }

    private void remove(Progress progress, long nowNanos) {
        transfers.remove(progress.id());
        timed.remove(progress);
        progress.movedBytes += bandwidth.cancel(progress.id(), nowNanos);
    }
}
