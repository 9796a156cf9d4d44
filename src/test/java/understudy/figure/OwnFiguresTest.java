package understudy.figure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import org.junit.jupiter.api.Test;

final class OwnFiguresTest {

    /** 3 + 4 counts, (1 + 2) of (2 + 8) as a share, the mean of 5 and 6 + 7, and the larger of 8 and 9. */
    @Test
    void figuresOfTwoReplicas_addUpByTheirKinds() {
        var one = new OwnFigures(
                "x",
                List.of(
                        OwnFigure.count("a", "A", 3),
                        OwnFigure.share("b", "B", 1, 2),
                        OwnFigure.mean("c", "C", 5, 1),
                        OwnFigure.largest("d", "D", 8)));
        var other = new OwnFigures(
                "x",
                List.of(
                        OwnFigure.largest("d", "D", 9),
                        OwnFigure.mean("c", "C", 13, 2),
                        OwnFigure.share("b", "B", 2, 8),
                        OwnFigure.count("a", "A", 4),
                        OwnFigure.tokens("e", "E", 2)));

        var sum = one.plus(other);

        assertThat(sum.figures()).extracting(OwnFigure::key).containsExactly("a", "b", "c", "d", "e");
        assertThat(sum.figures()).extracting(OwnFigure::value).containsExactly(7.0, 0.3, 6.0, 9.0, 2.0);
    }

    @Test
    void nothing_isAddedToAnyFamily() {
        var some = new OwnFigures("x", List.of(OwnFigure.count("a", "A", 3)));

        assertThat(OwnFigures.NONE.plus(some)).isEqualTo(some);
        assertThat(some.plus(OwnFigures.NONE)).isEqualTo(some);
        assertThatIllegalArgumentException().isThrownBy(() -> some.plus(new OwnFigures("y", List.of())));
    }

    @Test
    void shareOfNothing_isZero() {
        assertThat(OwnFigure.share("b", "B", 0, 0).value()).isZero();
    }
}
