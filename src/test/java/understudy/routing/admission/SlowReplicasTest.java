package understudy.routing.admission;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import understudy.routing.ClusterView;
import understudy.routing.RoutingFixture;

/** A look every 100 ns, at replicas with 10 tokens or more; twice the median is too slow, and 50 ns out the first time. */
final class SlowReplicasTest {
    private static final EjectionSpec SPEC = new EjectionSpec(2, 100, 10, 50, 0.5);

    private final ClusterView view = RoutingFixture.view(4);
    private final SlowReplicas slow = new SlowReplicas(SPEC);

    /** 10, 11, 12 and 24 ns per token: the median is 11.5, and 24 is more than 23. */
    @Test
    void replicaBeyondTheFactor_isEjectedForAWhile() {
        answers(100, 110, 120, 240);

        lookAt(99);
        assertThat(view.isReady(3)).isTrue();
        lookAt(100);
        assertThat(view.readyReplicas().toIntArray()).containsExactly(0, 1, 2);
        lookAt(149);
        assertThat(view.isReady(3)).isFalse();
        lookAt(150);
        assertThat(view.isReady(3)).isTrue();
    }

    /** With 23 it is exactly twice the median, which is not more. */
    @Test
    void replicaAtTheFactor_stays() {
        answers(100, 110, 120, 230);

        lookAt(100);

        assertThat(view.numReady()).isEqualTo(4);
    }

    @Test
    void secondEjection_lastsTwiceAsLong() {
        answers(100, 110, 120, 240);
        lookAt(100);
        lookAt(150);
        answers(100, 110, 120, 240);
        lookAt(200);

        // 2 x 50 ns from 200 on
        lookAt(299);
        assertThat(view.isReady(3)).isFalse();
        lookAt(300);
        assertThat(view.isReady(3)).isTrue();
    }

    /** Each interval is judged by its own answers. */
    @Test
    void answersOfThePast_doNotCount() {
        answers(100, 110, 120, 240);
        lookAt(100);
        lookAt(150);
        answers(100, 110, 120, 130);

        lookAt(200);

        assertThat(view.numReady()).isEqualTo(4);
    }

    @Test
    void fewAnswers_sayNothing() {
        slow.onAnswers(0, 90, 9);
        slow.onAnswers(1, 90, 9);
        slow.onAnswers(2, 90, 9);
        slow.onAnswers(3, 900, 9);

        lookAt(100);

        assertThat(view.numReady()).isEqualTo(4);
    }

    @Test
    void shareOfEjected_isBounded() {
        var one = new SlowReplicas(new EjectionSpec(1.5, 100, 10, 50, 0));
        for (int i = 0; i < 4; i++) {
            one.onAnswers(i, i < 2 ? 100 : 1_000, 10);
        }
        // Means 10, 10, 100, 100: the median is 55, and 100 is more than 82.5; one of the two is ejected.
        view.setNow(100);
        one.look(view);

        assertThat(view.readyReplicas().toIntArray()).containsExactly(0, 1, 3);
    }

    @Test
    void lastReplica_isNeverEjected() {
        view.setReady(0, false);
        view.setReady(1, false);
        view.setReady(2, false);
        slow.onAnswers(3, 1_000, 10);

        lookAt(100);

        assertThat(view.isReady(3)).isTrue();
    }

    @Test
    void ejectedReplica_isTakenBackWhenNoneIsLeft() {
        answers(100, 110, 120, 240);
        lookAt(100);
        for (int i = 0; i < 3; i++) {
            view.setReady(i, false);
        }

        lookAt(101);

        assertThat(view.isReady(3)).isTrue();
    }

    @Test
    void ejectedReplica_thatDrains_staysOutWhenItsTimeIsOver() {
        answers(100, 110, 120, 240);
        lookAt(100);
        view.setReady(3, false);

        lookAt(150);
        assertThat(view.isReady(3)).isFalse();
        view.setReady(3, true);
        assertThat(view.isReady(3)).isTrue();
    }

    private void answers(long... nanosFor10Tokens) {
        for (int i = 0; i < nanosFor10Tokens.length; i++) {
            slow.onAnswers(i, nanosFor10Tokens[i], 10);
        }
    }

    private void lookAt(long nanos) {
        view.setNow(nanos);
        slow.look(view);
    }
}
