package understudy.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.json.JsonMapper;

/** Shared parts of Jackson, which are safe for use by several threads. */
public final class Jackson {
    /** Parsers and generators of plain tokens, without what maps them to objects: that takes long to load. */
    public static final JsonFactory FACTORY = new JsonFactory();

    private Jackson() {}

    /** Mappers, loaded when the first one is asked for. */
    private static final class Mappers {
        static final ObjectMapper PLAIN = new ObjectMapper();
        static final ObjectReader WHOLE_TEXTS = PLAIN.reader(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
        static final ObjectWriter SNAKE_CASE = JsonMapper.builder()
                .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
                .build()
                .writerWithDefaultPrettyPrinter();
    }

    /** Returns the mapper, whose settings nobody changes. */
    public static ObjectMapper mapper() {
        return Mappers.PLAIN;
    }

    /** Returns a reader that refuses what follows the first value of a text. */
    public static ObjectReader readerOfWholeTexts() {
        return Mappers.WHOLE_TEXTS;
    }

    /** Returns a writer of indented JSON, in which the components of records have names in snake case. */
    public static ObjectWriter snakeCaseWriter() {
        return Mappers.SNAKE_CASE;
    }
}
