package understudy.transfer;

import it.unimi.dsi.fastutil.ints.IntList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * Transfers that cross the same ports, and so run at the same rate. One clock counts the bytes of each of them, so that
 * time passes for all at once.
 */
final class Lane {
    /**
     * A transfer whose bytes flow.
     *
     * @param end reading of its lane's clock at which all its bytes are through
     */
    record Flow(long id, Lane lane, long bytes, ByteClock end, long beginNanos) {

        long movedBytes() {
            return bytes - lane.clock.bytesUntil(end);
        }

        /** Returns since when it stands still; only to be asked in a lane that does. */
        long stillSinceNanos() {
            return Math.max(beginNanos, lane.stillSinceNanos);
        }

        private int compareTo(Flow other) {
            int order = end.compareTo(other.end);
            return order == 0 ? Long.compare(id, other.id) : order;
        }
    }

    private static final Comparator<Flow> BY_END = Flow::compareTo;

    private final IntList key;
    private final List<Port> ports;
    private final TreeSet<Flow> flows = new TreeSet<>(BY_END);
    private final ByteClock clock = new ByteClock();
    private long bytesPerSecond;
    private long stillSinceNanos;
    private boolean isFilled;

    /** Creates an empty lane, which stands still until it is given a rate. */
    Lane(IntList key, List<Port> ports, long nowNanos) {
        this.key = key;
        this.ports = ports;
        stillSinceNanos = nowNanos;
        ports.forEach(port -> port.add(this));
    }

    IntList key() {
        return key;
    }

    boolean isEmpty() {
        return flows.isEmpty();
    }

    boolean isStill() {
        return bytesPerSecond == 0;
    }

    long totalBytesPerSecond() {
        return bytesPerSecond * flows.size();
    }

    /** Returns the bytes that have gone through for flows that have not ended. */
    long movedBytes() {
        return flows.stream().mapToLong(Flow::movedBytes).sum();
    }

    Flow begin(long id, long bytes, long nowNanos) {
        var flow = new Flow(id, this, bytes, clock.plus(bytes), nowNanos);
        flows.add(flow);
        ports.forEach(Port::onFlowBegin);
        return flow;
    }

    /** Ends a flow, whether its bytes are through or not; a lane left empty leaves its ports. */
    void end(Flow flow) {
        flows.remove(flow);
        long moved = flow.movedBytes();
        ports.forEach(port -> port.onFlowEnd(moved));
        if (isEmpty()) {
            ports.forEach(port -> port.remove(this));
        }
    }

    void forEach(Consumer<Flow> consumer) {
        flows.forEach(consumer);
    }

    /** Returns whether the first flow to end has all its bytes through. */
    boolean hasEnded() {
        return !isEmpty() && clock.compareTo(first().end) >= 0;
    }

    /** Returns the flow that ends first. */
    Flow first() {
        return flows.first();
    }

    /** Returns the nanoseconds until the first flow ends, or {@link Long#MAX_VALUE} for never. */
    long nanosUntilEnd() {
        return clock.nanosUntil(first().end, bytesPerSecond);
    }

    void advance(long nanos) {
        clock.advance(bytesPerSecond, nanos);
    }

    void beginFilling() {
        isFilled = false;
    }

    /** Sets the rate of each flow, unless another port has done so already. */
    void fill(long eachBytesPerSecond, long nowNanos) {
        if (isFilled) {
            return;
        }
        isFilled = true;
        ports.forEach(port -> port.onFilled(flows.size(), eachBytesPerSecond));
        if (bytesPerSecond > 0) {
            stillSinceNanos = nowNanos;
        }
        bytesPerSecond = eachBytesPerSecond;
    }
}
