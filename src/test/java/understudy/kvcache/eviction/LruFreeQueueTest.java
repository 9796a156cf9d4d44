package understudy.kvcache.eviction;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The queue against a list of all blocks, of which it keeps only those that were used. */
final class LruFreeQueueTest {
    private static final int NUM_BLOCKS = 400;

    private final PrefixTable table = new PrefixTable(NUM_BLOCKS);
    private final Random random = new Random(3);
    private final List<Integer> held = new ArrayList<>();

    /** Blocks, in the order in which they are given out. */
    private final List<Integer> free =
            IntStream.range(1, NUM_BLOCKS).boxed().collect(Collectors.toCollection(ArrayList::new));

    @ParameterizedTest
    @EnumSource(FreeOrder.class)
    void order_isThatOfAListOfAllBlocks(FreeOrder order) {
        var queue = new LruFreeQueue(table, order);
        for (int i = 0; i < 5_000; i++) {
            switch (random.nextInt(5)) {
                case 0, 1 -> poll(queue, random.nextInt(8));
                case 2 -> release(queue, order);
                case 3 -> hit(queue);
                default -> hitSeveral(queue);
            }
            assertThat(queue.size()).isEqualTo(free.size());
            assertThat(queue.order()).containsExactly(toArray(free));
        }
        assertThat(table.capacity()).as("all blocks were used").isEqualTo(NUM_BLOCKS);
    }

    private void poll(LruFreeQueue queue, int count) {
        for (int i = 0; i < Math.min(count, free.size()); i++) {
            int block = queue.poll();
            assertThat(block).isEqualTo(free.remove(0));
            if (block >= table.capacity()) {
                table.makeRoom(block);
            }
            if (table.isHashed(block)) {
                table.remove(block);
            }
            held.add(block);
        }
    }

    private void release(LruFreeQueue queue, FreeOrder order) {
        Collections.shuffle(held, random);
        var released = new ArrayList<>(held.subList(0, Math.min(random.nextInt(8), held.size())));
        held.removeAll(released);
        for (int block : released) {
            if (!table.isHashed(block) && random.nextBoolean()) {
                table.insert(block, random.nextLong(), -1);
            }
        }
        queue.release(toArray(released), released.size());
        var first = released.stream()
                .filter(block -> order == FreeOrder.UNHASHED_FIRST && !table.isHashed(block))
                .toList();
        released.removeAll(first);
        free.addAll(0, first);
        free.addAll(released);
    }

    /** A block that has content is found, and leaves the middle of the queue. */
    private void hit(LruFreeQueue queue) {
        var hashed = free.stream().filter(table::isHashed).toList();
        if (!hashed.isEmpty()) {
            int block = hashed.get(random.nextInt(hashed.size()));
            queue.remove(block);
            free.remove((Integer) block);
            held.add(block);
        }
    }

    /** Blocks with content, some of which stand side by side, the last one first, as those of a request do. */
    private void hitSeveral(LruFreeQueue queue) {
        var blocks = new ArrayList<Integer>();
        for (int run = random.nextInt(3); run > 0 && !free.isEmpty(); run--) {
            int index = random.nextInt(free.size());
            for (int length = random.nextInt(5); length > 0 && index >= 0; length--, index--) {
                int block = free.get(index);
                if (table.isHashed(block) && !blocks.contains(block)) {
                    blocks.add(block);
                }
            }
        }
        queue.remove(toArray(blocks), blocks.size());
        free.removeAll(blocks);
        held.addAll(blocks);
    }

    private static int[] toArray(List<Integer> blocks) {
        return blocks.stream().mapToInt(Integer::intValue).toArray();
    }
}
