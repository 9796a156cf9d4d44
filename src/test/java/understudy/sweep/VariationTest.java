package understudy.sweep;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.settings.ScenarioException;

final class VariationTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "k=a,b,c | a b c",
                "k=1..4 | 1 2 3 4",
                "k=1..64*4 | 1 4 16 64",
                "k=1..10*3 | 1 3 9",
                "k=0.1..0.3+0.1 | 0.1 0.2 0.3",
                "k=10..30+10,100 | 10 20 30 100",
                "k=-1..1 | -1 0 1",
                "k=a..b | a..b",
                "k=1/2 | 1/2"
            })
    void valuesOfOneKey(String text, String values) {
        assertThat(Variation.parse(text).values())
                .extracting(value -> value.get(0))
                .containsExactly(values.split(" "));
    }

    @Test
    void keysThatVaryTogether() {
        var variation = Variation.parse("a.b,c=1/x,2/y");

        assertThat(variation.keys()).containsExactly("a.b", "c");
        assertThat(variation.values()).containsExactly(List.of("1", "x"), List.of("2", "y"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "k | must be KEY=A,B,C",
                "=1 | must be KEY=A,B,C",
                "k= | must be KEY=A,B,C",
                "k=1,1 | a value is there twice",
                "k=4..1 | 4..1 must grow",
                "k=1..4*1 | 1..4*1 must grow",
                "k=0..4*2 | 0..4*2 must grow",
                "k=1..4+0 | 1..4+0 must grow",
                "a,b=1/2,3 | 3 has 1 values for 2 keys",
                "k=1..1000000 | more than 100000 values"
            })
    void badInput_isNamed(String text, String message) {
        assertThatThrownBy(() -> Variation.parse(text))
                .isInstanceOf(ScenarioException.class)
                .hasMessageContaining("--vary " + text)
                .hasMessageContaining(message);
    }
}
