package understudy.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.apache.pekko.util.ByteString;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which lengths get through to the parser, wherever the parts of a connection's bytes begin and end. */
final class RequestFramingTest {
    /** The 19th digit is spoilt. */
    private static final String HUGE = "18446744073709551645";

    private static final String SPOILT = "184467440737095516x5";
    private static final String HEAD = "POST /v1/completions HTTP/1.1\r\nHost: a\r\n";

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Content-Length: %s\r\n\r\nrest",
                "content-length:%s\r\n\r\nrest",
                "CONTENT-LENGTH: \t  %s \r\n\r\nrest",
                "X: y\r\nContent-Length: %s\r\n\r\n",
                "X: y\nContent-Length: %s\n\n",
                "Content-Length: 3\r\n\r\nabcGET / HTTP/1.1\r\nContent-Length: %s\r\n\r\n",
                "\r\nGET / HTTP/1.1\r\n\r\n\r\nGET / HTTP/1.1\r\nContent-Length: %s\r\n\r\n",
                "Transfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n1\r\n0\r\n0\r\nT: x\r\n\r\nGET / HTTP/1.1\r\nContent-Length: %s\r\n\r\n"
            })
    void tooLongANumber_isSpoilt(String text) {
        assertThat(checked(HEAD + text.formatted(HUGE))).isEqualTo(HEAD + text.formatted(SPOILT));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                // A body may say what it wants.
                "Content-Length: 40\r\n\r\n\r\nContent-Length: 18446744073709551645\r\nGET / HTTP/1.1\r\n\r\n",
                "Transfer-Encoding: chunked\r\n\r\n28\r\n\r\nContent-Length: 18446744073709551645\r\n\r\n0\r\n\r\n",
                // Other headers, too, and other parts of them.
                "X-Length: 18446744073709551645\r\n\r\n",
                "X: Content-Length: 18446744073709551645\r\n\r\n",
                "My-Content-Length: 18446744073709551645\r\n\r\n",
                "Content-Lengths: 18446744073709551645\r\n\r\n",
                // Eighteen digits are a length that Pekko refuses by itself.
                "Content-Length: 999999999999999999\r\n\r\n",
                "Content-Length: 000000000000000003\r\n\r\nabcGET / HTTP/1.1\r\n\r\n",
                // No HTTP at all.
                "\r\n\r\n: :\r\nfffffffffffffffffff\r\n"
            })
    void whatIsRight_staysAsItIs(String text) {
        assertThat(checked(HEAD + text)).isEqualTo(HEAD + text);
    }

    @Test
    void partThatIsRight_isNotCopied() {
        var part = ByteString.fromString(HEAD + "Content-Length: 3\r\n\r\nabc");

        assertThat(new RequestFraming().check(part)).isSameAs(part);
    }

    /** All at once, byte by byte, and cut where chance wants it; all the same. */
    private static String checked(String text) {
        String whole = checked(text, text.length());
        assertThat(checked(text, 1)).isEqualTo(whole);
        for (int i = 0; i < 20; i++) {
            assertThat(checkedInRandomParts(text, i)).isEqualTo(whole);
        }
        return whole;
    }

    private static String checked(String text, int partLength) {
        var framing = new RequestFraming();
        var checked = new StringBuilder();
        for (int i = 0; i < text.length(); i += partLength) {
            String part = text.substring(i, Math.min(text.length(), i + partLength));
            checked.append(framing.check(ByteString.fromString(part)).utf8String());
        }
        return checked.toString();
    }

    private static String checkedInRandomParts(String text, long seed) {
        var random = new Random(seed);
        var framing = new RequestFraming();
        var checked = new StringBuilder();
        int begin = 0;
        while (begin < text.length()) {
            int end = Math.min(text.length(), begin + 1 + random.nextInt(30));
            checked.append(framing.check(ByteString.fromString(text.substring(begin, end)))
                    .utf8String());
            begin = end;
        }
        return checked.toString();
    }
}
