package understudy.api.sglang;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.headers.RawHeader;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Keys, as {@code decide_request_auth} of SGLang's {@code utils/auth.py} has them, and its unit tests. */
final class SglangDialectTest {

    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            delimiter = '|',
            value = {
                // No keys: everything is open.
                "||/v1/models|-|true",
                "||/flush_cache|-|true",
                // A key is asked for everywhere but at probes and metrics, and /flush_cache takes it as long as there
                // is no other.
                "user||/generate|-|false",
                "user||/v1/models|Bearer user|true",
                "user||/v1/models|bEaReR user|true",
                "user||/v1/models|user|false",
                "user||/v1/models|Bearer other|false",
                "user||/server_info|-|false",
                "user||/health|-|true",
                "user||/health_generate|-|true",
                "user||/metrics|-|true",
                "user||/flush_cache|Bearer user|true",
                // Only the administrator's: the rest is open.
                "|admin|/generate|-|true",
                "|admin|/flush_cache|-|false",
                "|admin|/flush_cache|Bearer admin|true",
                // Both: each has its own.
                "user|admin|/flush_cache|Bearer user|false",
                "user|admin|/flush_cache|Bearer admin|true",
                "user|admin|/load_lora_adapter|Bearer user|false",
                "user|admin|/open_session|Bearer user|true",
                "user|admin|/v1/models|Bearer admin|false",
                // A path that is written in another way is the same for the routes.
                "user||/%67enerate|-|false",
                // The administration of the emulation has its own token, which is looked at elsewhere.
                "user|admin|/admin/status|-|true"
            })
    void key_opensWhatSglangsDoes(
            String apiKey, String adminApiKey, String path, String authorization, boolean isLetIn) {
        var dialect = new SglangDialect(apiKey == null ? "" : apiKey, adminApiKey == null ? "" : adminApiKey);
        var request = HttpRequest.GET(path);
        var sent =
                authorization == null ? request : request.addHeader(RawHeader.create("Authorization", authorization));

        assertThat(dialect.refusal(sent).isEmpty()).isEqualTo(isLetIn);
    }

    /** Clients of Anthropic's API send it so. */
    @ParameterizedTest
    @CsvSource({"user, true", "other, false"})
    void key_mayStandInAnthropicsHeader(String sent, boolean isLetIn) {
        var request = HttpRequest.POST("/v1/messages").addHeader(RawHeader.create("x-api-key", sent));

        assertThat(new SglangDialect("user", "").refusal(request).isEmpty()).isEqualTo(isLetIn);
    }
}
