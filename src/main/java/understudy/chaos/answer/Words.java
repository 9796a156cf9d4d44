package understudy.chaos.answer;

import java.util.Locale;

/** Constants as people and programs read them. */
final class Words {
    private Words() {}

    /** Returns the name in lower case and with hyphens. */
    static String of(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
