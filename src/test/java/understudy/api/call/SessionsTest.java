package understudy.api.call;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import understudy.prompt.SessionTurn;

final class SessionsTest {
    private final Sessions sessions = new Sessions(2);

    @Test
    void turns_countUpPerSession() {
        assertThat(sessions.next("a")).isEqualTo(SessionTurn.of(0, 1));
        assertThat(sessions.next("b")).isEqualTo(SessionTurn.of(1, 1));
        assertThat(sessions.next("a")).isEqualTo(SessionTurn.of(0, 2));
    }

    @Test
    void sessionThatWasQuietLongest_isForgottenAndBeginsAgain() {
        sessions.next("a");
        sessions.next("b");
        sessions.next("a");
        sessions.next("c");

        assertThat(sessions.next("a").turn()).isEqualTo(3);
        // The fourth session, though it is called as the second one.
        assertThat(sessions.next("b")).isEqualTo(SessionTurn.of(3, 1));
    }

    @Test
    void otherName_isTheSameSession() {
        sessions.next("a");
        sessions.addName("a", "b");

        assertThat(sessions.next("b")).isEqualTo(SessionTurn.of(0, 2));
        assertThat(sessions.next("a")).isEqualTo(SessionTurn.of(0, 3));
    }
}
