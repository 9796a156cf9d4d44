package understudy.api.pooling;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.util.RawValue;
import it.unimi.dsi.fastutil.HashCommon;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Base64;
import understudy.api.http.Json;
import understudy.prompt.TokenSequence;

/** Made-up outputs of a model: pure functions of the token ids, so that equal texts have equal ones. */
public final class Vectors {
    private Vectors() {}

    /** Returns a vector with numbers from -1 to 1. */
    public static double[] draw(TokenSequence tokens, int size) {
        long seed = hash(tokens);
        var vector = new double[size];
        for (int i = 0; i < size; i++) {
            vector[i] = 2 * fraction(seed + i) - 1;
        }
        return vector;
    }

    /** Returns the numbers at some places of a vector that is long enough, from -1 to 1. */
    public static double[] draw(TokenSequence tokens, int[] places) {
        long seed = hash(tokens);
        var numbers = new double[places.length];
        for (int i = 0; i < places.length; i++) {
            numbers[i] = 2 * fraction(seed + places[i]) - 1;
        }
        return numbers;
    }

    /** Returns the first numbers of a vector, scaled to a length of 1. */
    public static double[] unit(double[] vector, int size) {
        double squares = 0;
        for (int i = 0; i < size; i++) {
            squares += vector[i] * vector[i];
        }
        var unit = new double[size];
        for (int i = 0; i < size; i++) {
            unit[i] = vector[i] / Math.sqrt(squares);
        }
        return unit;
    }

    /** Returns probabilities that make 1 together. */
    public static double[] softmax(double[] logits) {
        double sum = 0;
        var shares = new double[logits.length];
        for (int i = 0; i < logits.length; i++) {
            shares[i] = Math.exp(logits[i]);
            sum += shares[i];
        }
        for (int i = 0; i < logits.length; i++) {
            shares[i] /= sum;
        }
        return shares;
    }

    /** Returns a number above 0 and below 1. */
    public static double score(TokenSequence tokens) {
        return 1 / (1 + Math.exp(-4 * draw(tokens, 1)[0]));
    }

    /** Returns the likeness of two texts, from -1 to 1; that of equal ones is 1. */
    static double cosine(double[] one, double[] other) {
        double product = 0;
        for (int i = 0; i < one.length; i++) {
            product += one[i] * other[i];
        }
        return Math.max(-1, Math.min(1, product));
    }

    /** Returns a vector as a list of numbers, written already: a node for each number would take five times the memory. */
    public static JsonNode list(double[] vector) {
        var list = new StringBuilder("[");
        for (double each : vector) {
            list.append(list.length() == 1 ? "" : ",").append((float) each);
        }
        return Json.object().rawValueNode(new RawValue(list.append(']').toString()));
    }

    /** Returns a vector in Base64, of four bytes for each number. */
    static JsonNode base64(double[] vector, ByteOrder order) {
        var bytes = ByteBuffer.allocate(vector.length * Float.BYTES).order(order);
        for (double each : vector) {
            bytes.putFloat((float) each);
        }
        return Json.object().textNode(Base64.getEncoder().encodeToString(bytes.array()));
    }

    private static long hash(TokenSequence tokens) {
        long hash = tokens.length();
        for (int i = 0; i < tokens.length(); i++) {
            hash = HashCommon.murmurHash3(hash ^ tokens.tokenAt(i));
        }
        return hash;
    }

    private static double fraction(long key) {
        return (HashCommon.murmurHash3(key) >>> 11) * 0x1.0p-53;
    }
}
