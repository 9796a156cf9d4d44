package understudy.adopt;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class PythonValueTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                    {}                                | {}
                    {1}                               | [1]
                    {'a:b', 'c'}                      | ["a:b","c"]
                    {'a': {'b'}, 'c': {'d': 1}}       | {"a":["b"],"c":{"d":1}}
                    {'mode': <Mode.FULL: 3>, 'n': 2}  | {"mode":"<Mode.FULL: 3>","n":2}
                    {<Mode.FULL: 3>, <Mode.NONE: 0>}  | ["<Mode.FULL: 3>","<Mode.NONE: 0>"]
                    """)
    void braces_areADictionaryOrASet(String text, String json) {
        assertThat(PythonValue.of(text)).hasToString(json);
    }

    /** Neither the stack nor the time grows with what a log has nested. */
    @ParameterizedTest
    @ValueSource(strings = {"{", "[", "(", "{'a':", "{1:{"})
    void deepNesting_comesToAnEnd(String opening) {
        assertThat(PythonValue.of(opening.repeat(100_000))).isNotNull();
    }
}
