package understudy.transfer;

import java.util.ArrayList;
import java.util.List;

/** Capacity of one port, or of several together, and who shares it. */
final class Port {
    private final long bytesPerSecond;

    /** Lanes that cross this port, in order of creation; one that crosses it twice stands here twice. */
    private final List<Lane> lanes = new ArrayList<>();

    private double factor = 1;
    private int numFlows;
    private long movedBytes;

    /** While rates are set: what is left for flows that have none yet, and how many those are. */
    private long leftBytesPerSecond;

    private int numFlowsLeft;

    Port(long bytesPerSecond) {
        this.bytesPerSecond = bytesPerSecond;
    }

    void setFactor(double factor) {
        this.factor = factor;
    }

    void add(Lane lane) {
        lanes.add(lane);
    }

    void remove(Lane lane) {
        lanes.remove(lane);
    }

    void onFlowBegin() {
        numFlows++;
    }

    void onFlowEnd(long bytes) {
        numFlows--;
        movedBytes += bytes;
    }

    long movedBytes() {
        return movedBytes + lanes.stream().mapToLong(Lane::movedBytes).sum();
    }

    double usage() {
        return lanes.stream().mapToDouble(Lane::totalBytesPerSecond).sum() / bytesPerSecond;
    }

    void beginFilling() {
        leftBytesPerSecond = Math.round(bytesPerSecond * factor);
        numFlowsLeft = numFlows;
        lanes.forEach(Lane::beginFilling);
    }

    boolean isFilled() {
        return numFlowsLeft == 0;
    }

    /** Returns the rate of each flow that has none yet, if this port is what limits them. */
    long fairBytesPerSecond() {
        return leftBytesPerSecond / numFlowsLeft;
    }

    /** Gives all flows that have no rate yet their share of this port. */
    void fill(long nowNanos) {
        long fair = fairBytesPerSecond();
        lanes.forEach(lane -> lane.fill(fair, nowNanos));
    }

    /** Takes the capacity of flows that have got their rate. */
    void onFilled(int numFilled, long eachBytesPerSecond) {
        numFlowsLeft -= numFilled;
        leftBytesPerSecond -= numFilled * eachBytesPerSecond;
    }
}
