package understudy.api.call;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.headers.RawHeader;
import org.junit.jupiter.api.Test;
import understudy.api.http.Arrival;
import understudy.api.http.Json;
import understudy.api.http.JsonBody;
import understudy.api.model.Answer;
import understudy.api.model.Tokenizer;
import understudy.prompt.SessionTurn;
import understudy.prompt.TokenIds;

final class GenerationTest {
    private static final JsonBody ANONYMOUS = new JsonBody(Json.object());
    private static final JsonBody OF_ADA = new JsonBody(Json.object().put("user", "ada"));
    private static final HttpRequest FROM_A_GATEWAY =
            HttpRequest.create().addHeader(RawHeader.create("X-Gateway-Inference-Fairness-ID", "team-b"));

    @Test
    void tenant_isTheBodysUserUnlessAGatewayNamesOne() {
        assertThat(tenant(ANONYMOUS, HttpRequest.create())).isEmpty();
        assertThat(tenant(OF_ADA, HttpRequest.create())).isEqualTo("ada");
        assertThat(tenant(ANONYMOUS, FROM_A_GATEWAY)).isEqualTo("team-b");
        assertThat(tenant(OF_ADA, FROM_A_GATEWAY)).isEqualTo("team-b");
    }

    private static String tenant(JsonBody body, HttpRequest call) {
        var generation = new Generation(0, spec(body), Arrival.of(call, 0));
        return generation.request(0, 1).tenant();
    }

    private static Generation.Spec spec(JsonBody body) {
        return GenerationSpecBuilder.builder()
                .name("name")
                .prompt(new TokenIds(new int[] {1, 2, 3}))
                .loraName("")
                .turn(SessionTurn.NONE)
                .params(GenerationParams.read(body, List.of(), 1, -1))
                .maxTokens(1)
                .maxModelLen(10)
                .answer(new Answer(index -> 7, 1, List.of()))
                .tokenizer(Tokenizer.Vocabulary.CL100K_BASE.load())
                .build();
    }
}
