package understudy.api.pooling;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.ByteOrder;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import understudy.api.http.ApiException;
import understudy.api.http.Json;
import understudy.api.http.JsonBody;

/**
 * How vectors are to be written (vLLM {@code EncodingRequestMixin}).
 *
 * @param isBase64 whether as text, not as lists of numbers
 * @param order of the bytes in such text
 */
public record VectorEncoding(boolean isBase64, ByteOrder order) {
    /** Most numbers of one answer: a small body could ask for gigabytes. */
    private static final long MAX_LISTED = 1L << 22;

    private static final long MAX_ENCODED = 1L << 24;
    private static final Set<String> FORMATS = Set.of("float", "base64", "bytes", "bytes_only");

    static VectorEncoding of(JsonBody body) {
        String format = orElse(body, "encoding_format", "float");
        if (!FORMATS.contains(format)) {
            throw ApiException.invalid(
                    "Input should be 'float', 'base64', 'bytes' or 'bytes_only'", body.at("encoding_format"));
        }
        if (format.startsWith("bytes")) {
            throw ApiException.badRequest(
                    "encoding_format " + format + " is not supported here; use float or base64", "encoding_format");
        }
        if (!orElse(body, "embed_dtype", "float32").equals("float32")) {
            throw ApiException.badRequest("embed_dtype must be float32 here", "embed_dtype");
        }
        // Native is that of the machines that vLLM runs on.
        var order = switch (orElse(body, "endianness", "native")) {
            case "native", "little" -> ByteOrder.LITTLE_ENDIAN;
            case "big" -> ByteOrder.BIG_ENDIAN;
            default -> throw ApiException.invalid("Input should be 'native', 'big' or 'little'", body.at("endianness"));
        };
        return new VectorEncoding(format.equals("base64"), order);
    }

    /** Returns the one of a name, {@code float} for null, with bytes as they are in memory. */
    public static VectorEncoding named(@Nullable String format) {
        var body = Json.object();
        if (format != null) {
            body.put("encoding_format", format);
        }
        return of(new JsonBody(body));
    }

    private static String orElse(JsonBody body, String key, String otherwise) {
        String text = body.text(key);
        return text == null ? otherwise : text;
    }

    /** Refuses more vectors than an answer may have. */
    public void requireAtMost(int numVectors, int size) {
        long most = (isBase64 ? MAX_ENCODED : MAX_LISTED) / size;
        if (numVectors > most) {
            throw ApiException.badRequest(
                    "input must have at most " + most + " entries here, for vectors of " + size + " numbers"
                            + (isBase64 ? "" : "; base64 allows more"),
                    "input");
        }
    }

    /** Returns a vector as it stands in an answer. */
    public JsonNode write(double[] vector) {
        return isBase64 ? Vectors.base64(vector, order) : Vectors.list(vector);
    }
}
