package understudy.kvcache.eviction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class PrefixTableTest {
    private final PrefixTable table = new PrefixTable(20);

    @Test
    void lookup_returnsTheBlockInsertedFirst() {
        table.insert(5, 99);
        table.insert(3, 99);
        table.insert(7, 99);

        assertThat(table.lookup(99)).isEqualTo(5);
        table.remove(5);
        assertThat(table.lookup(99)).isEqualTo(3);
        table.remove(7);
        assertThat(table.lookup(99)).isEqualTo(3);
        table.remove(3);
        assertThat(table.lookup(99)).isEqualTo(PrefixTable.NULL_BLOCK);
    }

    @Test
    void counts_tellCopiesFromContents() {
        table.insert(5, 99);
        table.insert(3, 99);
        table.insert(4, 98);

        assertThat(table.numHashedBlocks()).isEqualTo(3);
        assertThat(table.numHashes()).isEqualTo(2);
    }

    @Test
    void insertingABlockTwice_isRefused() {
        table.insert(5, 99);

        assertThatIllegalStateException().isThrownBy(() -> table.insert(5, 98)).withMessageContaining("5");
    }

    @Test
    void agreesWithListsOfBlocks() {
        var random = new Random(5);
        Map<Long, List<Integer>> blocksByHash = new HashMap<>();

        for (int i = 0; i < 100_000; i++) {
            int block = 1 + random.nextInt(19);
            long hash = random.nextInt(6);
            if (table.isHashed(block)) {
                blocksByHash.get(table.hashOf(block)).remove((Integer) block);
                table.remove(block);
            } else {
                blocksByHash.computeIfAbsent(hash, h -> new ArrayList<>()).add(block);
                table.insert(block, hash);
            }
            var blocks = blocksByHash.getOrDefault(hash, List.of());
            assertThat(table.lookup(hash)).isEqualTo(blocks.isEmpty() ? PrefixTable.NULL_BLOCK : blocks.get(0));
        }
    }
}
