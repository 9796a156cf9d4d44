package understudy.api.http;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.NumericNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Objects;
import understudy.json.Jackson;

/** Reads and writes JSON. Order of fields is order of insertion. */
public final class Json {
    private static final int MAX_DEPTH = 200;
    private static final ObjectReader READER = Jackson.readerOfWholeTexts()
            .with(JsonFactory.builder()
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxNestingDepth(MAX_DEPTH)
                            .maxStringLength(Integer.MAX_VALUE)
                            .build())
                    .build())
            .with(new FiniteNumbers());

    private Json() {}

    public static ObjectNode object() {
        return JsonNodeFactory.instance.objectNode();
    }

    public static ArrayNode array() {
        return JsonNodeFactory.instance.arrayNode();
    }

    /** Writes a tree, or a record whose components are named like the fields. */
    public static String write(Object value) {
        try {
            return Jackson.mapper().writeValueAsString(value);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }

    public static byte[] bytes(JsonNode node) {
        try {
            return Jackson.mapper().writeValueAsBytes(node);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Reads the body of a request, which must be an object. */
    static ObjectNode readBody(InputStream body) {
        try {
            var node = READER.readTree(body);
            if (node instanceof ObjectNode object) {
                return object;
            }
            throw ApiException.invalid("Input should be a valid dictionary or object to extract fields from", "body");
        } catch (JacksonException e) {
            throw ApiException.invalid("JSON decode error: " + e.getOriginalMessage(), "body");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (IllegalArgumentException e) {
            throw ApiException.invalid("JSON decode error: " + e.getMessage(), "body");
        }
    }

    /** Returns how many tokens a text in JSON has, which is the number of its values, and some more; builds nothing. */
    static long countValues(InputStream body) {
        try (var parser = READER.createParser(body)) {
            long count = 0;
            while (parser.nextToken() != null) {
                count++;
            }
            return count;
        } catch (JacksonException e) {
            throw ApiException.invalid("JSON decode error: " + e.getOriginalMessage(), "body");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Reads text that is JSON; throws {@link IllegalArgumentException} if it is not. */
    public static JsonNode read(String text) {
        try {
            return Objects.requireNonNull(READER.readTree(text));
        } catch (JacksonException e) {
            throw new IllegalArgumentException(e.getOriginalMessage(), e);
        }
    }

    /** Refuses numbers that are too large for a double: written again they would be no JSON. */
    private static final class FiniteNumbers extends JsonNodeFactory {
        private static final long serialVersionUID = 1;

        @Override
        public NumericNode numberNode(double number) {
            if (Double.isInfinite(number)) {
                throw new IllegalArgumentException("a number is out of range");
            }
            return super.numberNode(number);
        }
    }
}
