package understudy.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;

/** Shared parts of Jackson, which are safe for use by several threads. */
public final class Jackson {
    /** Parsers and generators of plain tokens, without what maps them to objects: that takes long to load. */
    public static final JsonFactory FACTORY = new JsonFactory();

    private Jackson() {}

    /** The one mapper, loaded when it is asked for; readers with other settings are made from it. */
    private static final class Mappers {
        static final ObjectMapper PLAIN = new ObjectMapper();
        static final ObjectReader WHOLE_TEXTS = PLAIN.reader(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
    }

    /** Returns the mapper; its settings must not be changed. */
    public static ObjectMapper mapper() {
        return Mappers.PLAIN;
    }

    /** Returns a reader that refuses what follows the first value of a text. */
    public static ObjectReader readerOfWholeTexts() {
        return Mappers.WHOLE_TEXTS;
    }
}
