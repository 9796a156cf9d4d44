package understudy.replay;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The policies once more, as slow and as plain as can be: every victim is sought among all residents. */
interface ReferenceCache {

    boolean isResident(int block);

    /** Accesses the block at a position of a prompt. */
    void access(int block, int request, int position);

    int size();

    static ReferenceCache of(ReplaySettings settings, int[] stream) {
        int capacity = settings.capacityBlocks();
        return switch (settings.policy()) {
            case LRU -> new Ranked(capacity, Comparator.comparingInt(block -> block.lastAccess));
            case FIFO -> new Ranked(capacity, Comparator.comparingInt(block -> block.arrival));
            case LFU ->
                new Ranked(
                        capacity,
                        Comparator.<Block>comparingInt(block -> block.numAccesses)
                                .thenComparingInt(block -> block.lastAccess));
            case LFU_FIFO ->
                new Ranked(
                        capacity,
                        Comparator.<Block>comparingInt(block -> block.numAccesses)
                                .thenComparingInt(block -> block.arrival));
            case LRU_LONGEST_PREFIX ->
                new Ranked(
                        capacity,
                        Comparator.<Block>comparingInt(block -> block.lastRequest)
                                .thenComparingInt(block -> -block.lastPosition));
            case INFINITE -> new Ranked(Integer.MAX_VALUE, Comparator.comparingInt(block -> block.id));
            case BELADY -> new Clairvoyant(capacity, stream, false);
            case BELADY_BYPASS -> new Clairvoyant(capacity, stream, true);
            case S3FIFO -> new ReferenceS3Fifo(settings);
            case ARC -> new ReferenceArc(capacity);
        };
    }

    /** What can be known about a resident block. */
    final class Block {
        private final int id;
        private final int arrival;
        private int numAccesses;
        private int lastAccess;
        private int lastRequest;
        private int lastPosition;

        private Block(int id, int arrival) {
            this.id = id;
            this.arrival = arrival;
        }
    }

    /** Evicts the least of all residents. */
    class Ranked implements ReferenceCache {
        private final int capacity;
        private final Comparator<Block> order;
        private final Map<Integer, Block> residents = new HashMap<>();
        private int now;

        Ranked(int capacity, Comparator<Block> order) {
            this.capacity = capacity;
            this.order = order;
        }

        @Override
        public boolean isResident(int block) {
            return residents.containsKey(block);
        }

        @Override
        public void access(int id, int request, int position) {
            now++;
            if (!isResident(id)) {
                if (size() == capacity) {
                    residents.remove(residents.values().stream().min(order).orElseThrow().id);
                }
                residents.put(id, new Block(id, now));
            }
            var block = residents.get(id);
            block.numAccesses++;
            block.lastAccess = now;
            block.lastRequest = request;
            block.lastPosition = position;
        }

        @Override
        public int size() {
            return residents.size();
        }
    }

    /** Looks through the rest of the stream for each resident. */
    final class Clairvoyant implements ReferenceCache {
        private final int capacity;
        private final List<Integer> stream;
        private final boolean mayBypass;
        private final List<Integer> residents = new ArrayList<>();
        private int now;

        Clairvoyant(int capacity, int[] stream, boolean mayBypass) {
            this.capacity = capacity;
            this.stream = Arrays.stream(stream).boxed().toList();
            this.mayBypass = mayBypass;
        }

        @Override
        public boolean isResident(int block) {
            return residents.contains(block);
        }

        @Override
        public void access(int block, int request, int position) {
            now++;
            if (isResident(block)) {
                return;
            }
            if (residents.size() == capacity) {
                var victim = residents.stream()
                        .max(Comparator.comparingInt(this::distance))
                        .orElseThrow();
                if (mayBypass && distance(block) >= distance(victim)) {
                    return;
                }
                residents.remove(victim);
            }
            residents.add(block);
        }

        @Override
        public int size() {
            return residents.size();
        }

        private int distance(int block) {
            int distance = stream.subList(now, stream.size()).indexOf(block);
            return distance < 0 ? Integer.MAX_VALUE : distance;
        }
    }
}
