package understudy.kvcache.eviction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class PrefixTableTest {
    private final PrefixTable table = new PrefixTable(20);

    @Test
    void lookup_returnsTheBlockInsertedFirst() {
        table.insert(5, 99, -1);
        table.insert(3, 99, -1);
        table.insert(7, 99, -1);

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
        table.insert(5, 99, -1);
        table.insert(3, 99, -1);
        table.insert(4, 98, -1);

        assertThat(table.numHashedBlocks()).isEqualTo(3);
        assertThat(table.numHashes()).isEqualTo(2);
    }

    @Test
    void insertingABlockTwice_isRefused() {
        table.insert(5, 99, -1);

        assertThatIllegalStateException()
                .isThrownBy(() -> table.insert(5, 98, -1))
                .withMessageContaining("5");
    }

    @Test
    void content_belongsToTheConversationThatAloneHasComputedOrUsedIt() {
        table.insert(5, 99, 7);
        assertThat(table.belongsTo(5, 7)).isTrue();
        assertThat(table.belongsTo(5, 8)).isFalse();

        table.use(5, 7);
        assertThat(table.belongsTo(5, 7)).as("used by the same one").isTrue();
        table.use(5, 8);
        assertThat(table.belongsTo(5, 7)).as("used by another one").isFalse();
        assertThat(table.belongsTo(5, 8)).isFalse();
    }

    @Test
    void content_ofRequestsOutsideOfConversations_belongsToNobody() {
        table.insert(4, 98, -1);
        table.insert(5, 99, 7);
        table.use(5, -1);
        table.use(4, 7);

        assertThat(table.belongsTo(4, 7)).isFalse();
        assertThat(table.belongsTo(5, 7)).isFalse();
    }

    @Test
    void agreesWithListsOfBlocks() {
        var random = new Random(5);
        Map<Long, List<Integer>> blocksByHash = new HashMap<>();
        Map<Long, Set<Integer>> usersByHash = new HashMap<>();

        for (int i = 0; i < 100_000; i++) {
            int block = 1 + random.nextInt(19);
            long hash = random.nextInt(6);
            if (table.isHashed(block)) {
                blocksByHash.get(table.hashOf(block)).remove((Integer) block);
                table.remove(block);
            } else {
                int conversation = random.nextInt(3) - 1;
                blocksByHash.computeIfAbsent(hash, h -> new ArrayList<>()).add(block);
                usersByHash.computeIfAbsent(hash, h -> new HashSet<>()).add(conversation);
                table.insert(block, hash, conversation);
            }
            blocksByHash.forEach((each, blocks) -> {
                if (blocks.isEmpty()) {
                    usersByHash.remove(each);
                }
            });
            var blocks = blocksByHash.getOrDefault(hash, List.of());
            assertThat(table.belongsTo(table.lookup(hash), 1))
                    .isEqualTo(usersByHash.getOrDefault(hash, Set.of()).equals(Set.of(1)));
            assertThat(table.lookup(hash)).isEqualTo(blocks.isEmpty() ? PrefixTable.NULL_BLOCK : blocks.get(0));
        }
    }
}
