package understudy.settings;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class NumbersTest {
    @ParameterizedTest
    @CsvSource({"64, 64", "64.0, 64", "1e2, 100", "-3, -3", "9223372036854775807, 9223372036854775807"})
    void wholeNumber_mayBeWrittenInSeveralWays(String text, long number) {
        assertThat(Numbers.parseWhole(text)).hasValue(number);
    }

    /** 2^63 is one too many for 64 bits. */
    @ParameterizedTest
    @ValueSource(strings = {"", "many", "1.5", "9223372036854775808", "1e999999999", "NaN"})
    void otherTexts_areNoWholeNumber(String text) {
        assertThat(Numbers.parseWhole(text)).isEmpty();
    }

    @Test
    void textThatIsNoNumber_isNaN() {
        assertThat(Numbers.parse("2.5e-1")).isEqualTo(0.25);
        assertThat(Numbers.parse("fast")).isNaN();
    }
}
