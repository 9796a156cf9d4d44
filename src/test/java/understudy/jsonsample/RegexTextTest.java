package understudy.jsonsample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.regex.Pattern;
import org.apache.commons.rng.UniformRandomProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.workload.RandomStreams;

/** Texts that are made up for regular expressions. */
final class RegexTextTest {
    private final UniformRandomProvider random = new RandomStreams(3).stream("regex");

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "abc",
                "^[A-Z]{3}-[0-9]{2}$",
                "\\d{4}-\\d\\d(-\\d{2})?",
                "(red|green|blue)+",
                "(?:a|(?<name>b)){2,5}?c*",
                "[^a-z\\d]{3}",
                "[\\w.+-]+@[\\w-]+\\.[a-z]{2,}",
                "^(?:[0-9]{1,3}\\.){3}[0-9]{1,3}$",
                "\\S+\\s\\D\\W",
                "a.c",
                "^$|^x{3,}$",
                "[\\]\\-^]{2}[-a][a-]",
                "\\x41\\u00e9\\t",
                "\\p{Lu}\\p{L}+\\p{N}",
                "((a*)*)*b",
                "^(a+)+$",
                "x{0}y"
            })
    void sample_matches(String pattern) {
        var texts = new RegexText(pattern);
        var compiled = Pattern.compile(pattern);

        for (int i = 0; i < 200; i++) {
            String text = texts.sample(random, 0, RegexText.MAX_LENGTH);

            assertThat(compiled.matcher(text).matches())
                    .as(pattern + " and " + text)
                    .isTrue();
        }
    }

    /** xgrammar takes them for nothing, wherever they stand. */
    @ParameterizedTest
    @CsvSource({"\\bword\\b, word", "a^b, ab", "(a$){2}b, aab", "^(?P<name>x)$y, xy"})
    void anchors_haveNoText(String pattern, String text) {
        assertThat(new RegexText(pattern).sample(random, 0, 99)).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource({
        "a*, 7, 7",
        "[a-z]+x, 10, 12",
        "a*b{0;5}, 10, 20",
        "(ab)*c?, 5, 5",
        "(abc)?(de){0;3}, 5, 5",
        "\\d+, 1, 1"
    })
    void sample_keepsToItsLength(String pattern, int min, int max) {
        var texts = new RegexText(pattern.replace(';', ','));

        for (int i = 0; i < 100; i++) {
            assertThat(texts.sample(random, min, max)).hasSizeBetween(min, max);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "(?=a)b",
                "(?!a)b",
                "(?<=a)b",
                "(?<!a)b",
                "(?i)a",
                "(a)\\1",
                "(",
                ")",
                "[a",
                "*",
                "a**",
                "a{2,1}",
                "a{x}",
                "\\p{Greek}",
                "a\\",
                "[z-a]",
                "a{999999999}",
                "((a{99}){99}){99}"
            })
    void whatCannotBeFollowed_isRefused(String pattern) {
        assertThatIllegalArgumentException().isThrownBy(() -> new RegexText(pattern));
    }

    /** Thirty nested stars would be 4 to the 30th parts if each were as generous as the outer ones. */
    @Test
    void nestedRepetitions_areBounded() {
        var texts = new RegexText("(".repeat(30) + "a?" + ")*".repeat(30));

        for (int i = 0; i < 100; i++) {
            assertThat(texts.sample(random, 0, 1000)).matches("a*");
        }
    }

    @Test
    void evilPattern_isGivenUp() {
        var pattern = new BoundedPatterns().getRegularExpression("^(a+)+(\\1)?c$");

        assertThat(pattern.matches("aaaac")).isTrue();
        assertThat(catchThrowable(() -> pattern.matches("a".repeat(60) + "b"))).hasMessageContaining("too many steps");
    }
}
