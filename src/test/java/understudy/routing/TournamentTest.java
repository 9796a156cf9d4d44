package understudy.routing;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;

final class TournamentTest {

    @Test
    void first_isNoneWithoutReplicas() {
        assertThat(new Tournament(Integer::compare).first()).isEqualTo(Tournament.NONE);
    }

    @Test
    void first_isTheLowestIndexAmongEquals() {
        var loads = new int[5];
        var tournament = new Tournament((one, other) -> Integer.compare(loads[one], loads[other]));
        for (int replica = 4; replica >= 0; replica--) {
            tournament.update(replica, true);
        }

        tournament.update(0, false);

        assertThat(tournament.first()).isEqualTo(1);
    }

    @Test
    void first_isWhatAScanFinds() {
        // Values of 0 to 5 for up to 37 replicas: many are equal, and the tree grows five times.
        var random = new Random(1);
        var values = new int[37];
        var takesPart = new boolean[values.length];
        var tournament = new Tournament((one, other) -> Integer.compare(values[one], values[other]));
        for (int change = 0; change < 5_000; change++) {
            int replica = random.nextInt(1 + Math.min(change, values.length - 1));
            values[replica] = random.nextInt(6);
            takesPart[replica] = random.nextInt(4) > 0;
            tournament.update(replica, takesPart[replica]);

            assertThat(tournament.first()).isEqualTo(scan(values, takesPart));
        }
    }

    private static int scan(int[] values, boolean[] takesPart) {
        int first = Tournament.NONE;
        for (int i = 0; i < values.length; i++) {
            if (takesPart[i] && (first == Tournament.NONE || values[i] < values[first])) {
                first = i;
            }
        }
        return first;
    }
}
