package understudy.chaos.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.chaos.proxy.BodyBreaker.Then;
import understudy.chaos.proxy.ReplicaFault.Kind;

class BodyBreakerTest {

    @Test
    void withoutAFault_partsAreFramedAndWhole() {
        var breaker = new BodyBreaker(Optional.empty(), true, true);

        var passage = breaker.next(bytes("0123456789ab"));

        // 12 bytes are a chunk of size c.
        assertThat(text(passage.framed())).isEqualTo("c\r\n0123456789ab\r\n");
        assertThat(text(passage.body())).isEqualTo("0123456789ab");
        assertThat(passage.then()).isEqualTo(Then.GO_ON);
        assertThat(text(breaker.end())).isEqualTo("0\r\n\r\n");
    }

    @ParameterizedTest
    @CsvSource({
        // A fault behind one event passes the first part whole; then it strikes the second, of 8 bytes.
        "CUT, true, '', CLOSE",
        "CUT, false, data, CLOSE",
        "RESET_MID_STREAM, true, '', RESET",
        "TRUNCATED_CHUNK, true, 8|data, CLOSE",
        "STALL, true, '', HANG",
    })
    void endsTheBodyBehindItsEvents(Kind kind, boolean isChunked, String framed, Then then) {
        var fault = ReplicaFaultBuilder.builder(ReplicaFault.of(kind))
                .afterEvents(1)
                .build();
        var breaker = new BodyBreaker(Optional.of(fault), true, isChunked);

        assertThat(breaker.next(bytes("whole")).then()).isEqualTo(Then.GO_ON);
        var struck = breaker.next(bytes("data: ab"));

        assertThat(text(struck.framed()).replace("\r\n", "|")).isEqualTo(framed);
        assertThat(struck.then()).isEqualTo(then);
    }

    @Test
    void aBodyThatIsNoStream_isStruckAtItsFirstPart() {
        var breaker = new BodyBreaker(Optional.of(ReplicaFault.of(Kind.CUT)), false, false);

        assertThat(breaker.next(bytes("{\"a\":1}x")).then()).isEqualTo(Then.CLOSE);
    }

    @Test
    void noDone_takesTheLastEventAlone() {
        var breaker = new BodyBreaker(Optional.of(ReplicaFault.of(Kind.NO_DONE)), true, true);

        assertThat(text(breaker.next(bytes("data: {}\n\ndata: [DONE]\n\n")).body()))
                .isEqualTo("data: {}\n\n");
        // An empty chunk would end the body.
        assertThat(breaker.next(bytes("data: [DONE]\n\n")).framed()).isEmpty();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }
}
