package understudy.api.sglang;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.prompt.TokenIds;

/**
 * Sessions as SGLang's {@code session_controller.py} has them: the tokens are those of its {@code _concat_token_arrays}, the
 * words those of its {@code create_req} and of {@code scheduler.py}.
 */
final class TokenSessionsTest {
    private final List<String> aborted = new ArrayList<>();
    private long nowNanos;
    private final TokenSessions sessions = new TokenSessions(() -> nowNanos, aborted::add);

    private static SessionParams after(@Nullable String rid) {
        return new SessionParams("s", rid, 0, false, false);
    }

    private TokenSessions.Turn begin(SessionParams params, String rid, int... own) {
        return sessions.begin(params, rid, new TokenIds(own));
    }

    private void open() {
        assertThat(sessions.open("s", false, Long.MAX_VALUE)).isTrue();
    }

    @Test
    void request_goesOnBehindPromptAndAnswer() {
        open();
        begin(after(null), "a", 1, 2).end(new int[] {3, 4}, true);

        var second = begin(after("a"), "b", 5);
        assertThat(second.input().toArray()).containsExactly(1, 2, 3, 4, 5);
        second.end(new int[] {6}, true);
        assertThat(begin(after("b"), "c", 7).input().toArray()).containsExactly(1, 2, 3, 4, 5, 6, 7);
        // Another branch from the first one.
        assertThat(begin(after("a"), "d", 8).input().toArray()).containsExactly(1, 2, 3, 4, 8);
        // Without a name it begins anew.
        assertThat(begin(after(null), "e", 9).input().toArray()).containsExactly(9);
    }

    /** The offset is Python's: of prompt and answer together, counted from the end if negative. */
    @ParameterizedTest
    @CsvSource({"1, 1 9", "3, 1 2 3 9", "-1, 1 2 3 9", "-3, 1 9", "9, 1 2 3 4 9", "-9, 9"})
    void offset_cutsWhatWasBefore(int offset, String expected) {
        open();
        begin(after(null), "a", 1, 2).end(new int[] {3, 4}, true);

        var next = begin(new SessionParams("s", "a", offset, false, false), "b", 9);

        assertThat(next.input().toArray())
                .containsExactly(List.of(expected.split(" ")).stream()
                        .mapToInt(Integer::parseInt)
                        .toArray());
    }

    @Test
    void answer_mayBeDropped() {
        open();
        begin(after(null), "a", 1, 2).end(new int[] {3, 4}, true);

        var next = begin(new SessionParams("s", "a", 0, false, true), "b", 9);

        assertThat(next.input().toArray()).containsExactly(1, 2, 9);
    }

    @Test
    void unfinishedRequest_cannotBeGoneOnFrom_butReplaced() {
        open();
        var first = begin(after(null), "a", 1, 2);
        assertThatThrownBy(() -> begin(after("a"), "b", 9))
                .hasMessage("Session request is appending to a request that hasn't finished.");

        var replacing = begin(new SessionParams("s", "a", 0, true, false), "b", 9);

        assertThat(aborted).containsExactly("a");
        assertThat(replacing.input().toArray()).containsExactly(1, 2, 9);
        first.end(new int[] {3}, false);
        // What came after it is given up with the next replacement.
        begin(new SessionParams("s", "a", 0, true, false), "c", 8);
        assertThat(aborted).containsExactly("a", "b");
        assertThatThrownBy(() -> begin(after("b"), "d", 9)).hasMessage("Invalid request session id");
    }

    @Test
    void unknownSession_isRefused() {
        assertThatThrownBy(() -> begin(after(null), "a", 1)).hasMessage("Invalid request: session id s does not exist");
        open();
        assertThat(sessions.open("s", false, Long.MAX_VALUE)).isFalse();
        sessions.close("s");
        assertThatThrownBy(() -> begin(after(null), "a", 1)).hasMessage("Invalid request: session id s does not exist");
    }

    @Test
    void idleSession_closesByItself() {
        assertThat(sessions.open("s", false, 1000)).isTrue();
        nowNanos = 1000;
        begin(after(null), "a", 1);
        nowNanos = 2000;
        begin(after(null), "b", 1);
        nowNanos = 3001;

        assertThatThrownBy(() -> begin(after(null), "c", 1)).hasMessage("Invalid request: session id s does not exist");
    }

    @Test
    void streamingSession_goesOnByItself() {
        sessions.open("s", true, Long.MAX_VALUE);
        var first = begin(after(null), "a", 1, 2);
        assertThatThrownBy(() -> begin(after(null), "b", 3))
                .hasMessage("Streaming session already has an active request.");
        first.end(new int[] {3}, true);

        var second = begin(after(null), "b", 4);
        assertThat(second.input().toArray()).containsExactly(1, 2, 3, 4);
        // What is given up does not count.
        second.end(new int[] {5}, false);
        assertThat(begin(after(null), "c", 6).input().toArray()).containsExactly(1, 2, 3, 6);
    }

    @ParameterizedTest
    @CsvSource({
        "0, true, false, Streaming sessions do not support replace.",
        "0, false, true, Streaming sessions do not support drop_previous_output.",
        "2, false, false, Streaming sessions do not support offset."
    })
    void streamingSession_onlyGoesOn(int offset, boolean replaces, boolean drops, String message) {
        sessions.open("s", true, Long.MAX_VALUE);

        assertThatThrownBy(() -> begin(new SessionParams("s", null, offset, replaces, drops), "a", 1))
                .hasMessage(message);
    }

    /** 2^24 tokens in all: 16 times a million, and 777,216 more. */
    @Test
    void tokensOfAllSessions_areBounded() {
        open();
        int[] million = new int[1_000_000];
        for (int i = 0; i < 16; i++) {
            begin(after(null), "r" + i, million).end(new int[0], true);
        }
        assertThatThrownBy(() -> begin(after(null), "more", million))
                .hasMessage("The sessions of this server hold 16000000 tokens already; close some of them.");

        sessions.close("s");
        open();
        assertThat(begin(after(null), "more", million).input().length()).isEqualTo(1_000_000);
    }
}
