package understudy.transfer;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Bandwidth of ports, shared by the transfers that cross them. Rates are max-min fair: no transfer can have more
 * without taking from one that has no more than it. They are whole bytes per second, rounded down, and change when a
 * transfer begins or ends, or a port's capacity changes.
 *
 * <p>Transfers that cross the same ports share one {@link Lane}; a change costs time in proportion to the lanes and
 * ports, not to the transfers. The times that it is told must not go backwards.
 */
public final class SharedBandwidth {
    /** Ports, and limits of several ports together. */
    private final List<Port> limits = new ArrayList<>();

    /** For each port, the limits that it is subject to, first its own. */
    private final List<List<Port>> limitsOfPort = new ArrayList<>();

    private final Map<IntList, Lane> lanes = new LinkedHashMap<>();
    private final Long2ObjectOpenHashMap<Lane.Flow> flows = new Long2ObjectOpenHashMap<>();
    private final LongArrayList ended = new LongArrayList();
    private long nowNanos;
    private long nextEndNanos = Long.MAX_VALUE;

    /** Adds ports, which get the next numbers, from 0. */
    public void add(PortGroup group) {
        var together = new Port(group.togetherBytesPerSecond());
        if (group.isLimitedTogether()) {
            limits.add(together);
        }
        for (long bytesPerSecond : group.bytesPerSecond()) {
            var port = new Port(bytesPerSecond);
            limits.add(port);
            limitsOfPort.add(group.isLimitedTogether() ? List.of(port, together) : List.of(port));
        }
    }

    /**
     * Begins a transfer; with no bytes it ends at once.
     *
     * @param id not that of another transfer
     * @param crossed at least one port; one that stands there twice is crossed twice
     */
    public void start(long id, IntList crossed, long bytes, long atNanos) {
        advance(atNanos);
        if (crossed.isEmpty() || bytes < 0 || flows.containsKey(id)) {
            throw new IllegalArgumentException("transfer " + id + " over " + crossed + ", bytes " + bytes);
        }
        var key = new IntArrayList(crossed);
        key.sort(null);
        flows.put(id, lanes.computeIfAbsent(key, this::newLane).begin(id, bytes, nowNanos));
        share();
    }

    private Lane newLane(IntList key) {
        var crossed = key.intStream()
                .mapToObj(limitsOfPort::get)
                .flatMap(List::stream)
                .toList();
        return new Lane(key, crossed, nowNanos);
    }

    /** Ends a transfer before its time, if it has not ended yet, and returns its bytes that are through. */
    public long cancel(long id, long atNanos) {
        advance(atNanos);
        var flow = flows.get(id);
        if (flow == null) {
            return 0;
        }
        end(flow);
        share();
        return flow.movedBytes();
    }

    /** Changes a port's capacity to {@code factor} of what it was made with: 0 if it is broken, and at first 1. */
    public void setFactor(int port, double factor, long atNanos) {
        advance(atNanos);
        port(port).setFactor(factor);
        share();
    }

    /** Returns when the next transfer ends that {@link #endedBy} has not returned; {@link Long#MAX_VALUE} for never. */
    public long nextEndNanos() {
        return ended.isEmpty() ? nextEndNanos : nowNanos;
    }

    /** Returns the transfers that have ended and were not returned yet, in the order of their ends, then ids. */
    public LongList endedBy(long atNanos) {
        advance(atNanos);
        var result = new LongArrayList(ended);
        ended.clear();
        return result;
    }

    /** Returns since when the transfer stands still that has done so for longest; {@link Long#MAX_VALUE} for none. */
    public long stillSinceNanos() {
        long earliest = Long.MAX_VALUE;
        for (var flow : still()) {
            earliest = Math.min(earliest, flow.stillSinceNanos());
        }
        return earliest;
    }

    /** Returns the transfers that stand still since a time, or an earlier one, in the order of their ids. */
    public LongList stillSince(long sinceNanos) {
        return LongList.of(still().stream()
                .filter(flow -> flow.stillSinceNanos() <= sinceNanos)
                .mapToLong(Lane.Flow::id)
                .sorted()
                .toArray());
    }

    private List<Lane.Flow> still() {
        var still = new ArrayList<Lane.Flow>();
        for (var lane : lanes.values()) {
            if (lane.isStill()) {
                lane.forEach(still::add);
            }
        }
        return still;
    }

    /** Returns the share of a port's undiminished capacity that is in use, 0 to 1. */
    public double usage(int port) {
        return port(port).usage();
    }

    /** Returns the whole bytes that have crossed a port, up to the latest time that was told. */
    public long bytesMoved(int port) {
        return port(port).movedBytes();
    }

    /** Returns how many transfers have bytes left. */
    public int numActive() {
        return flows.size();
    }

    private Port port(int index) {
        return limitsOfPort.get(index).get(0);
    }

    /** Lets time pass, from one end to the next. */
    private void advance(long toNanos) {
        if (toNanos < nowNanos) {
            throw new IllegalArgumentException("time " + toNanos + " after " + nowNanos);
        }
        while (nextEndNanos <= toNanos) {
            passUntil(nextEndNanos);
            endThose();
            share();
        }
        passUntil(toNanos);
    }

    private void passUntil(long toNanos) {
        if (toNanos > nowNanos) {
            lanes.values().forEach(lane -> lane.advance(toNanos - nowNanos));
            nowNanos = toNanos;
        }
    }

    /** Ends all flows whose bytes are through. */
    private void endThose() {
        int from = ended.size();
        for (var lane : List.copyOf(lanes.values())) {
            while (lane.hasEnded()) {
                ended.add(lane.first().id());
                end(lane.first());
            }
        }
        ended.subList(from, ended.size()).sort(null);
    }

    private void end(Lane.Flow flow) {
        flows.remove(flow.id());
        flow.lane().end(flow);
        if (flow.lane().isEmpty()) {
            lanes.remove(flow.lane().key());
        }
    }

    /** Progressive filling: the flows of the port that gives the least get their rate first, then those of the next. */
    private void share() {
        limits.forEach(Port::beginFilling);
        for (var port = tightest(); port != null; port = tightest()) {
            port.fill(nowNanos);
        }
        nextEndNanos = Long.MAX_VALUE;
        for (var lane : lanes.values()) {
            long nanos = lane.nanosUntilEnd();
            nextEndNanos = nanos == Long.MAX_VALUE ? nextEndNanos : Math.min(nextEndNanos, nowNanos + nanos);
        }
    }

    private @Nullable Port tightest() {
        Port tightest = null;
        for (var port : limits) {
            if (!port.isFilled() && (tightest == null || port.fairBytesPerSecond() < tightest.fairBytesPerSecond())) {
                tightest = port;
            }
        }
        return tightest;
    }
}
