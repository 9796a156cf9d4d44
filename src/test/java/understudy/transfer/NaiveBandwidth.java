package understudy.transfer;

import it.unimi.dsi.fastutil.ints.IntList;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;

/** The definition of shared bandwidth: every transfer by itself, in billionths of a byte without bounds. */
final class NaiveBandwidth {
    private static final BigInteger BILLION = BigInteger.valueOf(1_000_000_000);

    /** A capacity, and the ports that share it. */
    private record Limit(IntList ports, long bytesPerSecond) {
        long times(IntList crossed) {
            return crossed.intStream().filter(ports::contains).count();
        }
    }

    private static final class Flow {
        private final IntList crossed;
        private final BigInteger nanoBytes;
        private BigInteger moved = BigInteger.ZERO;
        private long bytesPerSecond;

        Flow(IntList crossed, long bytes) {
            this.crossed = crossed;
            nanoBytes = BigInteger.valueOf(bytes).multiply(BILLION);
        }

        long movedBytes() {
            return moved.min(nanoBytes).divide(BILLION).longValueExact();
        }

        boolean hasEnded() {
            return moved.compareTo(nanoBytes) >= 0;
        }

        void advance(long nanos) {
            moved = moved.add(BigInteger.valueOf(bytesPerSecond).multiply(BigInteger.valueOf(nanos)));
        }

        long nanosLeft() {
            if (bytesPerSecond == 0) {
                return hasEnded() ? 0 : Long.MAX_VALUE;
            }
            var rate = BigInteger.valueOf(bytesPerSecond);
            var left = nanoBytes.subtract(moved).max(BigInteger.ZERO);
            return left.add(rate).subtract(BigInteger.ONE).divide(rate).longValueExact();
        }
    }

    private final List<Limit> limits = new ArrayList<>();
    private final List<Double> factors = new ArrayList<>();
    private final Map<Long, Flow> flows = new TreeMap<>();
    private final List<Flow> all = new ArrayList<>();
    private long nowNanos;

    void add(PortGroup group) {
        int first = factors.size();
        var members = IntList.of(
                IntStream.range(first, first + group.bytesPerSecond().size()).toArray());
        limits.add(new Limit(members, group.togetherBytesPerSecond()));
        for (int port : members) {
            limits.add(new Limit(IntList.of(port), group.bytesPerSecond().getLong(port - first)));
            factors.add(1.0);
        }
    }

    void start(long id, IntList crossed, long bytes) {
        var flow = new Flow(crossed, bytes);
        flows.put(id, flow);
        all.add(flow);
        share();
    }

    long cancel(long id) {
        var flow = flows.remove(id);
        share();
        return flow.movedBytes();
    }

    void setFactor(int port, double factor) {
        factors.set(port, factor);
        share();
    }

    /** Lets time pass, and returns the transfers that have ended. */
    List<Long> endedBy(long toNanos) {
        var ended = new ArrayList<Long>();
        for (long next = nextEndNanos(); next <= toNanos; next = nextEndNanos()) {
            passUntil(next);
            var now = flows.keySet().stream()
                    .filter(id -> flows.get(id).hasEnded())
                    .toList();
            ended.addAll(now);
            now.forEach(flows::remove);
            share();
        }
        passUntil(toNanos);
        return ended;
    }

    long nextEndNanos() {
        long nanos = flows.values().stream().mapToLong(Flow::nanosLeft).min().orElse(Long.MAX_VALUE);
        return nanos == Long.MAX_VALUE ? nanos : nowNanos + nanos;
    }

    long bytesMoved(int port) {
        return all.stream()
                .mapToLong(flow -> flow.movedBytes()
                        * flow.crossed.intStream().filter(each -> each == port).count())
                .sum();
    }

    private void passUntil(long toNanos) {
        flows.values().forEach(flow -> flow.advance(toNanos - nowNanos));
        nowNanos = toNanos;
    }

    private void share() {
        var open = new ArrayList<>(flows.values());
        while (!open.isEmpty()) {
            Limit tightest = null;
            long least = Long.MAX_VALUE;
            for (var limit : limits) {
                long fair = fair(limit, open);
                if (fair < least) {
                    least = fair;
                    tightest = limit;
                }
            }
            var limit = tightest;
            for (var flow :
                    open.stream().filter(each -> limit.times(each.crossed) > 0).toList()) {
                flow.bytesPerSecond = least;
                open.remove(flow);
            }
        }
    }

    private long fair(Limit limit, List<Flow> open) {
        long left = limit.ports.size() == 1
                ? Math.round(limit.bytesPerSecond * factors.get(limit.ports.getInt(0)))
                : limit.bytesPerSecond;
        long times = 0;
        for (var flow : flows.values()) {
            if (open.contains(flow)) {
                times += limit.times(flow.crossed);
            } else {
                left -= limit.times(flow.crossed) * flow.bytesPerSecond;
            }
        }
        return times == 0 ? Long.MAX_VALUE : left / times;
    }
}
