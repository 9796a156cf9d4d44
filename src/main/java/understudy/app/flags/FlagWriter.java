package understudy.app.flags;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import understudy.settings.Section;

/**
 * Command line of an engine's server, written from settings: what {@link FlagArguments} reads, the other way round.
 *
 * @param table flags of the engine
 */
public record FlagWriter(FlagTable table) {
    private static final String AUTO = "auto";
    private static final String LIST = "list";

    /**
     * Returns a flag for each setting that one takes as it is; the others are left to the caller. What is left to the engine
     * needs none.
     *
     * @param settings values by key
     */
    public List<String> words(Map<String, String> settings) {
        var words = new ArrayList<String>();
        for (var flag : table.flags()) {
            String value = flag.setting().map(settings::get).orElse(AUTO);
            if (!value.equals(AUTO)) {
                add(flag, value, words);
            }
        }
        return words;
    }

    private static void add(Flag flag, String value, List<String> words) {
        switch (flag.kind()) {
            case SWITCH -> words.add(value.equals("true") ? "--" + flag.name() : "--no-" + flag.name());
            case ON -> {
                if (value.equals("true")) {
                    words.add("--" + flag.name());
                }
            }
            case TEXT, SIZE -> words.add("--" + flag.name() + "=" + value);
            case SECONDS, LIST, JSON -> {}
        }
    }

    /** Adds a flag with a value, unless there is none or the engine chooses it. */
    public static void put(String flag, @Nullable String value, List<String> words) {
        if (value != null && !value.equals(AUTO)) {
            words.add("--" + flag + "=" + value);
        }
    }

    /**
     * Adds a flag with a word for each element.
     *
     * @param list setting's value, a list of texts
     */
    public static void putList(String flag, @Nullable String list, List<String> words) {
        if (list != null) {
            words.add("--" + flag);
            words.addAll(Section.of(LIST + " = " + list).texts(LIST));
        }
    }
}
