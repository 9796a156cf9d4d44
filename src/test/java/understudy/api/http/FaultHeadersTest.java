package understudy.api.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import understudy.faults.RequestFault;

final class FaultHeadersTest {

    @Test
    void headers_becomeTheFaultOfTheRequest() {
        assertThat(read(Map.of())).isEqualTo(RequestFault.NONE);
        assertThat(read(Map.of("X-Understudy-Fail", "true"))).isEqualTo(new RequestFault(true, 0, 0));
        assertThat(read(Map.of("X-Understudy-Cut-After-Tokens", "5", "X-Understudy-Delay", "200ms")))
                .isEqualTo(new RequestFault(false, 5, 200_000_000));
        assertThat(read(Map.of("X-Understudy-Reset-After-Tokens", "5"))).isEqualTo(new RequestFault(0, 5, 0, true));
        assertThat(read(Map.of("X-Understudy-Reset-After-Tokens", "5", "X-Understudy-Cut-After-Tokens", "4")))
                .as("the earlier one")
                .isEqualTo(new RequestFault(0, 4, 0, false));
    }

    @Test
    void brokenJson_isNoFaultOfTheCluster() {
        Map<String, String> headers = Map.of("X-Understudy-Malformed-At-Token", "3");

        assertThat(read(headers)).isEqualTo(RequestFault.NONE);
        assertThat(FaultHeaders.malformedAtToken(header(headers))).isEqualTo(3);
        assertThat(FaultHeaders.malformedAtToken(header(Map.of()))).isZero();
    }

    @Test
    void badValue_isNamed() {
        assertThatThrownBy(() -> read(Map.of("X-Understudy-Delay", "soon")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("X-Understudy-Delay is \"soon\", must be a duration");
        assertThatThrownBy(() -> read(Map.of("X-Understudy-Cut-After-Tokens", "0")))
                .hasMessageContaining("must be from 1 to 2147483647");
        assertThatThrownBy(() -> read(Map.of("X-Understudy-Fail", "yes")))
                .hasMessageContaining("must be true, false or one of [400, 401,");
    }

    @Test
    void unknownHeader_isNamedWithTheKnownOnes() {
        FaultHeaders.requireKnown("x-understudy-fail");
        FaultHeaders.requireKnown("X-Request-Id");
        assertThatThrownBy(() -> FaultHeaders.requireKnown("x-understudy-delays"))
                .hasMessage("unknown header x-understudy-delays, must be one of X-Understudy-Fail,"
                        + " X-Understudy-Cut-After-Tokens, X-Understudy-Reset-After-Tokens,"
                        + " X-Understudy-Malformed-At-Token, X-Understudy-Delay");
    }

    private static RequestFault read(Map<String, String> headers) {
        return FaultHeaders.read(header(headers));
    }

    private static Function<String, Optional<String>> header(Map<String, String> headers) {
        return name -> Optional.ofNullable(headers.get(name));
    }
}
