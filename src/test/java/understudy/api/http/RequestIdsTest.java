package understudy.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.junit.jupiter.api.Test;

final class RequestIdsTest {

    @Test
    void noTwoNames_haveAHalfInCommon() {
        for (long seed = 0; seed < 4; seed++) {
            var ids = new RequestIds(seed);
            var halves = new HashSet<String>();
            for (int i = 0; i < 1000; i++) {
                String name = RequestIds.of(ids.name(HttpRequest.create()));
                assertThat(name).matches("[0-9a-f]{32}");
                halves.add(name.substring(0, 16));
                halves.add(name.substring(16));
            }
            assertThat(halves).hasSize(2000);
        }
    }

    @Test
    void sameSeed_givesTheSameNames() {
        assertThat(RequestIds.of(new RequestIds(3).name(HttpRequest.create())))
                .isEqualTo(RequestIds.of(new RequestIds(3).name(HttpRequest.create())))
                .isNotEqualTo(RequestIds.of(new RequestIds(4).name(HttpRequest.create())));
    }
}
