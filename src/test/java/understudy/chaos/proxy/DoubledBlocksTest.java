package understudy.chaos.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.msgpack.core.MessagePack;
import org.msgpack.value.Value;
import org.msgpack.value.ValueFactory;

/** Events of blocks of two tokens, which become blocks of four. */
final class DoubledBlocksTest {
    private final DoubledBlocks blocks = new DoubledBlocks();

    private static Value numbers(int... numbers) {
        var values = new Value[numbers.length];
        for (int i = 0; i < numbers.length; i++) {
            values[i] = ValueFactory.newInteger(numbers[i]);
        }
        return ValueFactory.newArray(values);
    }

    private static Value text(String text) {
        return ValueFactory.newString(text);
    }

    private static Value stored(boolean asMap, Value hashes, Value parent, Value tokens, int blockSize) {
        var size = ValueFactory.newInteger(blockSize);
        if (!asMap) {
            return ValueFactory.newArray(text("BlockStored"), hashes, parent, tokens, size, ValueFactory.newNil());
        }
        return ValueFactory.newMapBuilder()
                .put(text("type"), text("BlockStored"))
                .put(text("block_hashes"), hashes)
                .put(text("parent_block_hash"), parent)
                .put(text("token_ids"), tokens)
                .put(text("block_size"), size)
                .put(text("lora_id"), ValueFactory.newNil())
                .build();
    }

    private static Value removed(Value hashes) {
        return ValueFactory.newArray(text("BlockRemoved"), hashes, text("GPU"));
    }

    private static Value parent(int hash) {
        return ValueFactory.newInteger(hash);
    }

    /** Returns the events of a batch with some event in it, as they come out. */
    private Value doubled(Value event) throws IOException {
        var batch = ValueFactory.newArray(
                ValueFactory.newFloat(1.5), ValueFactory.newArray(event), ValueFactory.newInteger(0));
        try (var packer = MessagePack.newDefaultBufferPacker()) {
            packer.packValue(batch);
            var out = MessagePack.newDefaultUnpacker(blocks.doubled(packer.toByteArray()))
                    .unpackValue()
                    .asArrayValue();
            assertThat(out.get(0)).isEqualTo(ValueFactory.newFloat(1.5));
            assertThat(out.get(2)).isEqualTo(ValueFactory.newInteger(0));
            return out.get(1);
        }
    }

    private static Value events(Value... events) {
        return ValueFactory.newArray(events);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void twoBlocksBecomeOneWithTheHashOfTheSecond(boolean asMap) throws IOException {
        var none = ValueFactory.newNil();

        // Of five blocks the first four are two pairs; the fifth one waits for a sixth.
        assertThat(doubled(stored(asMap, numbers(11, 12, 13, 14, 15), none, numbers(1, 2, 3, 4, 5, 6, 7, 8, 9, 10), 2)))
                .isEqualTo(events(stored(asMap, numbers(12, 14), none, numbers(1, 2, 3, 4, 5, 6, 7, 8), 4)));
        assertThat(doubled(stored(asMap, numbers(16, 17), parent(15), numbers(11, 12, 13, 14), 2)))
                .isEqualTo(events(stored(asMap, numbers(16), parent(14), numbers(9, 10, 11, 12), 4)));
        // Another way to go on from the same first block.
        assertThat(doubled(stored(asMap, numbers(26), parent(15), numbers(21, 22), 2)))
                .isEqualTo(events(stored(asMap, numbers(26), parent(14), numbers(9, 10, 21, 22), 4)));
        // One that begins behind a pair.
        assertThat(doubled(stored(asMap, numbers(33, 34), parent(12), numbers(31, 32, 33, 34), 2)))
                .isEqualTo(events(stored(asMap, numbers(34), parent(12), numbers(31, 32, 33, 34), 4)));
    }

    @Test
    void onlyWhatWasToldIsRemoved() throws IOException {
        doubled(stored(false, numbers(11, 12, 13), ValueFactory.newNil(), numbers(1, 2, 3, 4, 5, 6), 2));

        assertThat(doubled(removed(numbers(13)))).isEqualTo(events());
        assertThat(doubled(removed(numbers(12, 11)))).isEqualTo(events(removed(numbers(12))));
    }
}
