package understudy.api.http;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import org.apache.pekko.http.javadsl.model.HttpRequest;

/** The key that a request carries in its header {@code Authorization}. */
public final class BearerToken {
    private static final String SCHEME = "Bearer ";

    private BearerToken() {}

    /** Returns whether a request carries a key, or none is asked for. */
    public static boolean fits(HttpRequest request, String key) {
        return key.isEmpty()
                || request.getHeader("Authorization")
                        .filter(header -> isEqual(header.value(), SCHEME + key))
                        .isPresent();
    }

    /** Takes as long for a near miss as for any other, so that a key cannot be guessed letter by letter. */
    public static boolean isEqual(String given, String wanted) {
        return MessageDigest.isEqual(given.getBytes(StandardCharsets.UTF_8), wanted.getBytes(StandardCharsets.UTF_8));
    }
}
