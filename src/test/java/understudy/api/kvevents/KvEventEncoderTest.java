package understudy.api.kvevents;

import static org.assertj.core.api.Assertions.assertThat;

import it.unimi.dsi.fastutil.longs.LongList;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.msgpack.core.MessagePack;
import org.msgpack.value.ArrayValue;
import org.msgpack.value.ValueFactory;
import understudy.kvcache.KvEvent;
import understudy.kvcache.KvGroup;
import understudy.prompt.HashPath;
import understudy.prompt.HashRun;
import understudy.prompt.TokenIds;

final class KvEventEncoderTest {
    private static final long HASH = 0x1122334455667788L;
    private static final KvEvent.Stored STORED =
            new KvEvent.Stored(LongList.of(HASH), false, 0, new TokenIds(1, 2, 3, 4), 0);
    private static final KvEvent.Removed REMOVED = new KvEvent.Removed(LongList.of(HASH));

    /** One of each event at 1.5 s, from replica 0: what msgspec 0.19 makes of the same events of vLLM. */
    private static final String MAP_BYTES = "93cb3ff8000000000000938ba474797065ab426c6f636b53746f726564ac626c6f636b5f"
            + "68617368657391cf1122334455667788b1706172656e745f626c6f636b5f68617368c0a9746f6b656e5f6964739401020304aa"
            + "626c6f636b5f73697a6504a76c6f72615f6964c0a66d656469756da3475055a96c6f72615f6e616d65c0aa65787472615f6b65"
            + "797391c0a967726f75705f69647800b26b765f63616368655f737065635f6b696e64ae66756c6c5f617474656e74696f6e84a4"
            + "74797065ac426c6f636b52656d6f766564ac626c6f636b5f68617368657391cf1122334455667788a66d656469756da3475055"
            + "a967726f75705f6964780081a474797065b0416c6c426c6f636b73436c656172656400";

    /**
     * The same as arrays. Arrays keep the order of the fields: extra keys (91 c0), group (00), kind (ae, "full_attention") and
     * no sliding window (c0) behind the LoRA name; the group behind the medium of the removal.
     */
    private static final String ARRAY_BYTES =
            "93cb3ff8000000000000939cab426c6f636b53746f72656491cf1122334455667788c0940"
                    + "102030404c0a3475055c091c000ae66756c6c5f617474656e74696f6ec094ac426c6f636b52656d6f76656491cf112233445566"
                    + "7788a34750550091b0416c6c426c6f636b73436c656172656400";

    @Test
    void mapForm_isVllmsBytes() {
        var encoder = new KvEventEncoder(KvEventSettings.Format.MAP, 0);

        assertThat(hex(encoder.encode(batch(0, STORED, REMOVED, new KvEvent.Cleared()))))
                .isEqualTo(MAP_BYTES);
    }

    @Test
    void arrayForm_isVllmsBytes() {
        var encoder = new KvEventEncoder(KvEventSettings.Format.ARRAY, 0);

        assertThat(hex(encoder.encode(batch(0, STORED, REMOVED, new KvEvent.Cleared()))))
                .isEqualTo(ARRAY_BYTES);
    }

    /** Two blocks of 4 tokens, the second behind the first. */
    @Test
    void blocksThatArePublishedOneByOne_areEventsOfTheirOwn() {
        var tokens = new TokenIds(1, 2, 3, 4, 5, 6, 7, 8);
        var first = new KvEvent.Stored(LongList.of(HASH), false, 0, tokens, 0);
        var second = new KvEvent.Stored(LongList.of(HASH + 1), true, HASH, tokens, 4);
        var path = HashPath.EMPTY.goingOn(0, new long[] {HASH, HASH + 1});
        var run = new KvEvent.StoredEach(new HashRun(path, 0, 2), tokens, "", "");

        for (var format : KvEventSettings.Format.values()) {
            assertThat(hex(new KvEventEncoder(format, 0).encode(batch(0, run, REMOVED))))
                    .isEqualTo(hex(new KvEventEncoder(format, 0).encode(batch(0, first, second, REMOVED))));
        }
    }

    /** Of two blocks of 4 tokens a group with a window of 6 keeps the second: its hash, and the tokens of both. */
    @Test
    void groupWithAWindow_saysSo() throws IOException {
        var group = new KvGroup(KvGroup.Kind.SLIDING_WINDOW, 4, 6);
        var stored = new KvEvent.Stored(
                LongList.of(7), false, 0, new TokenIds(new int[8]), 0, "", "", new KvEvent.GroupRange(1, group, 8));

        var events = decode(batch(0, stored, new KvEvent.Removed(LongList.of(7), 1)));

        var event = events.get(1).asArrayValue().get(0).asArrayValue();
        assertThat(event.get(1)).isEqualTo(hashes(7));
        assertThat(event.get(3).asArrayValue().size()).isEqualTo(8);
        assertThat(event.get(4)).isEqualTo(ValueFactory.newInteger(4));
        assertThat(event.list().subList(9, 12))
                .containsExactly(
                        ValueFactory.newInteger(1),
                        ValueFactory.newString("sliding_window"),
                        ValueFactory.newInteger(6));
        assertThat(events.get(1).asArrayValue().get(1).asArrayValue().get(3)).isEqualTo(ValueFactory.newInteger(1));
    }

    /** A group may keep nothing of what is new: then there are no keys, either, and the map leaves them out. */
    @Test
    void rangeOfWhichNothingIsKept_isStoredWithoutBlocks() {
        var group = new KvGroup(KvGroup.Kind.MAMBA, 4, 0);
        var stored = new KvEvent.Stored(
                LongList.of(), true, 5, new TokenIds(new int[8]), 4, "", "", new KvEvent.GroupRange(1, group, 4));
        var encoder = new KvEventEncoder(KvEventSettings.Format.MAP, 0);

        String text = new String(encoder.encode(batch(0, stored)), StandardCharsets.ISO_8859_1);

        assertThat(text).contains("mamba", "group_idx").doesNotContain("extra_keys", "window");
    }

    @Test
    void runOfRemovals_isOneEventEach() throws IOException {
        var removed = new KvEvent.Removed(LongList.of(1, 2, 3));

        var events = decode(batch(0, removed, STORED)).get(1).asArrayValue();

        assertThat(events.size()).isEqualTo(4);
        assertThat(events.get(2).asArrayValue().get(1)).isEqualTo(hashes(3));
        assertThat(events.get(3).asArrayValue().get(0)).isEqualTo(ValueFactory.newString("BlockStored"));
    }

    @Test
    void hashWithItsHighestBit_isUnsigned() throws IOException {
        var events = decode(batch(0, new KvEvent.Removed(LongList.of(-1L)))).get(1);

        // 2^64 - 1
        assertThat(events.asArrayValue().get(0).asArrayValue().get(1))
                .isEqualTo(ValueFactory.newArray(ValueFactory.newInteger(new BigInteger("18446744073709551615"))));
    }

    @Test
    void loraAndSalt_areExtraKeys() throws IOException {
        var stored = new KvEvent.Stored(LongList.of(7, 8), false, 0, new TokenIds(new int[8]), 0, "lora", "salt");

        var event = decode(batch(0, stored)).get(1).asArrayValue().get(0).asArrayValue();

        // The LoRA name counts for every block, the salt for the first one of the prompt.
        assertThat(event.get(7)).isEqualTo(ValueFactory.newString("lora"));
        assertThat(event.get(8)).hasToString("[[\"lora\",\"salt\"],[\"lora\"]]");
    }

    @Test
    void adapters_areNumberedAsTheyCome() throws IOException {
        var encoder = new KvEventEncoder(KvEventSettings.Format.ARRAY, 0);
        var bytes = encoder.encode(batch(0, storedFor("b"), storedFor(""), storedFor("a"), storedFor("b")));

        var events = MessagePack.newDefaultUnpacker(bytes)
                .unpackValue()
                .asArrayValue()
                .get(1);

        assertThat(events.asArrayValue())
                .extracting(event -> event.asArrayValue().get(5).toString())
                .containsExactly("1", "null", "2", "1");
    }

    private static KvEvent.Stored storedFor(String adapter) {
        return new KvEvent.Stored(LongList.of(7), false, 0, new TokenIds(new int[4]), 0, adapter, "");
    }

    @Test
    void rankAndTime_areOfTheReplica() throws IOException {
        var encoder = new KvEventEncoder(KvEventSettings.Format.ARRAY, 1_000);

        var batch = MessagePack.newDefaultUnpacker(encoder.encode(batch(3, REMOVED)))
                .unpackValue()
                .asArrayValue();

        assertThat(batch.get(0).asFloatValue().toDouble()).isEqualTo(1_001.5);
        assertThat(batch.get(2)).isEqualTo(ValueFactory.newInteger(3));
    }

    private static ArrayValue decode(KvEventBatch batch) throws IOException {
        var encoder = new KvEventEncoder(KvEventSettings.Format.ARRAY, 0);
        return MessagePack.newDefaultUnpacker(encoder.encode(batch))
                .unpackValue()
                .asArrayValue();
    }

    private static ArrayValue hashes(long hash) {
        return ValueFactory.newArray(ValueFactory.newInteger(hash));
    }

    private static KvEventBatch batch(int replica, KvEvent... events) {
        return new KvEventBatch(replica, 1_500_000_000L, 4, List.of(events));
    }

    private static String hex(byte[] bytes) {
        return HexFormat.of().formatHex(bytes);
    }
}
