package understudy.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The parser of HOCON")
class HoconTest {
    @Test
    void linesThatAreCommentsAreEmptiedAndOthersKeepTheirNumbers() {
        assertThat(Hocon.withoutComments("# one\na = 1 # of two\n\n  # three\n  b = \"#\"\n"))
                .isEqualTo("\na = 1 # of two\n\n\nb = \"#\"\n");
        assertThat(Hocon.withoutComments("a = 1")).isEqualTo("a = 1\n");
    }

    @Test
    void defaultsAreThoseOfTheFileWithItsComments() {
        assertThat(Hocon.defaults(Defaults.RESOURCE).values())
                .isNotEmpty()
                .isEqualTo(Hocon.resource(Defaults.RESOURCE).values());
    }

    @Test
    void defaultsThatAreNotBundledAreRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Hocon.defaults("nowhere.conf"))
                .withMessage("nowhere.conf: no such resource");
    }
}
