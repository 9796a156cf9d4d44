package understudy.workload.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import understudy.engine.Request;
import understudy.workload.Gaps;
import understudy.workload.OutputLimit;
import understudy.workload.RandomStreams;
import understudy.workload.RequestRate;
import understudy.workload.files.TraceException;

/** A token is a character here. */
final class ShareGptWorkloadTest {
    @TempDir
    private Path directory;

    @Test
    void chatsThatFit_comeWithTheLengthsOfTheirFirstTwoTurns() throws IOException {
        // Four and more tokens each; the second has a prompt that is too short, the third has one turn, the fourth has
        // a
        // prompt above 1024 tokens, the fifth has an answer that is too short.
        var requests = requests(
                0,
                chat("12345", "123456"),
                chat("123", "123456"),
                chat("12345"),
                chat("x".repeat(1025), "123456"),
                chat("12345", "123"),
                chat("1234567", "1234", "further", "turns"));

        assertThat(requests)
                .extracting(request -> request.prompt().length() + " " + request.maxTokens())
                .containsExactlyInAnyOrder("5 6", "7 4", "5 6", "7 4");
        assertThat(requests).extracting(Request::id).containsExactly(0L, 1L, 2L, 3L);
    }

    @Test
    void givenLength_isThatOfEveryAnswer_howeverShortTheOneInTheFile() throws IOException {
        var requests = requests(9, chat("12345", "1"));

        assertThat(requests).extracting(Request::maxTokens).containsExactly(9, 9, 9, 9);
    }

    @Test
    void fileWithoutChatsThatFit_isNamed() {
        assertThatThrownBy(() -> requests(0, chat("1", "2")))
                .isInstanceOf(TraceException.class)
                .hasMessageContaining("chats.json: no chat has two turns");
        assertThatThrownBy(() -> open(0, "{}"))
                .isInstanceOf(TraceException.class)
                .hasMessageEndingWith("chats.json: not a JSON list of chats");
        assertThatThrownBy(() -> open(0, "[{]"))
                .isInstanceOf(TraceException.class)
                .hasMessageContaining("chats.json: cannot be read");
    }

    private static String chat(String... turns) {
        var values = new ArrayList<String>();
        for (String turn : turns) {
            values.add("{\"value\": \"" + turn + "\"}");
        }
        return "{\"id\": \"x\", \"conversations\": [" + String.join(",", values) + "]}";
    }

    private List<Request> requests(int outputLength, String... chats) throws IOException {
        var workload = open(outputLength, "[" + String.join(",", chats) + "]");
        var requests = new ArrayList<Request>();
        for (var next = workload.next(); next != null; next = workload.next()) {
            requests.add(next);
        }
        return requests;
    }

    private ShareGptWorkload open(int outputLength, String json) throws IOException {
        var file = Files.writeString(directory.resolve("chats.json"), json);
        var options = new ShareGptWorkload.Options(
                4, RequestRate.constant(1), Gaps.POISSON, outputLength, OutputLimit.MAX_TOKENS, 10_000);
        return new ShareGptWorkload(file, options, text -> text.chars().toArray(), new RandomStreams(1));
    }
}
