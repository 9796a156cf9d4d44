package understudy.chaos.gateway.reference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import it.unimi.dsi.fastutil.longs.LongList;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import understudy.kvcache.KvEvent;

/** Batches as vLLM writes them, by hand. */
final class KvEventDecoderTest {
    private static MessageBufferPacker batchOf(int numEvents) throws IOException {
        var out = MessagePack.newDefaultBufferPacker();
        out.packArrayHeader(3).packDouble(12.5).packArrayHeader(numEvents);
        return out;
    }

    @Test
    void eventsAsMaps() throws IOException {
        var out = batchOf(1);
        out.packMapHeader(4).packString("type").packString("BlockStored");
        out.packString("block_hashes").packArrayHeader(1).packLong(7);
        out.packString("parent_block_hash").packNil();
        out.packString("token_ids").packArrayHeader(2).packInt(5).packInt(6);
        out.packInt(0);

        var batch = KvEventDecoder.decode(3, out.toByteArray());

        assertThat(batch.sequence()).isEqualTo(3);
        assertThat(batch.atSeconds()).isEqualTo(12.5);
        assertThat(batch.events()).singleElement().isInstanceOfSatisfying(KvEvent.Stored.class, stored -> {
            assertThat(stored.blockHashes().toLongArray()).containsExactly(7);
            assertThat(stored.hasParent()).isFalse();
            assertThat(stored.tokens().tokenAt(1)).isEqualTo(6);
        });
    }

    @Test
    void eventsAsArrays_andOnlyThoseOfTheGpu() throws IOException {
        var out = batchOf(4);
        out.packArrayHeader(3).packString("BlockRemoved").packArrayHeader(1);
        // A digest, of which the last eight bytes are 258.
        out.packBinaryHeader(10).writePayload(new byte[] {9, 9, 0, 0, 0, 0, 0, 0, 1, 2});
        out.packString("GPU");
        out.packArrayHeader(3)
                .packString("BlockRemoved")
                .packArrayHeader(1)
                .packLong(8)
                .packString("CPU");
        out.packArrayHeader(1).packString("AllBlocksCleared");
        out.packArrayHeader(1).packString("SomethingElse");
        out.packInt(0);

        assertThat(KvEventDecoder.decode(0, out.toByteArray()).events())
                .containsExactly(new KvEvent.Removed(LongList.of(258)), new KvEvent.Cleared());
    }

    @Test
    void otherBytesAreRefused() {
        assertThatThrownBy(() -> KvEventDecoder.decode(0, new byte[] {1, 2, 3})).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> KvEventDecoder.decode(0, new byte[] {(byte) 0x90}))
                .isInstanceOf(IOException.class);
        assertThatThrownBy(() -> KvEventDecoder.decode(0, new byte[0])).isInstanceOf(IOException.class);
    }
}
