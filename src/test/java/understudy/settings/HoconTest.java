package understudy.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class HoconTest {
    @Test
    void linesThatAreCommentsAreEmptiedAndOthersKeepTheirNumbers() {
        assertThat(Hocon.withoutComments("# one\na = 1 # of two\n\n  # three\n  b = \"#\"\n"))
                .isEqualTo("\na = 1 # of two\n\n\nb = \"#\"\n");
        assertThat(Hocon.withoutComments("a = 1")).isEqualTo("a = 1\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {Defaults.RESOURCE, "model-defaults.conf", "gpu-defaults.conf"})
    void defaultsAreThoseOfTheFileWithItsComments(String name) {
        assertThat(Hocon.defaults(name).resolve().values())
                .isNotEmpty()
                .isEqualTo(Hocon.resource(name).resolve().values());
    }

    @Test
    void defaultsThatAreNotBundledAreRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Hocon.defaults("nowhere.conf"))
                .withMessage("nowhere.conf: no such resource");
    }
}
