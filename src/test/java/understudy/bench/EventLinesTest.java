package understudy.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

final class EventLinesTest {

    @Test
    void lines_areFoundWhereverTheBytesAreCut() {
        byte[] bytes = "data: {\"a\": \"é\"}\r\n\r\n: ping\nevent: x\ndata:[DONE]\n\n".getBytes(StandardCharsets.UTF_8);
        for (int cut = 0; cut <= bytes.length; cut++) {
            var data = new ArrayList<String>();
            var lines = new EventLines(data::add);

            lines.read(ByteBuffer.wrap(Arrays.copyOf(bytes, cut)));
            lines.read(ByteBuffer.wrap(bytes, cut, bytes.length - cut));

            assertThat(data).as("cut at %d", cut).containsExactly("{\"a\": \"é\"}", "[DONE]");
        }
    }
}
