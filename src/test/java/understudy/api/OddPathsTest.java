package understudy.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Other ways to write a path lead past no key, and to no file. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class OddPathsTest {
    @AutoClose
    private final ServerFixture server = new ServerFixture();

    OddPathsTest() {
        server.apiKey = "key";
        server.adminToken = "token";
        server.start();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/admin/status",
                "/%61dmin/status",
                "/admin%2Fstatus",
                "//admin/status",
                "/./admin/status",
                "/nowhere/../admin/status",
                "/nowhere/%2e%2e/admin/status",
                "/admin;x/status",
                "/admin/status?x#y",
                "http://127.0.0.1/admin/status",
                "http://127.0.0.1/%61dmin/./status",
                "/v1/models",
                "/v%31/models",
                "//v1/models",
                "/v1%2Fmodels",
                "/page/../v1/models",
                "/page/%2e%2e/package-info.class",
                "/page/..%2fHttpServer.class",
                "/page//etc/passwd"
            })
    void opensNothing(String path) throws IOException {
        var answers = RawHttp.exchange(server.server().address(), HostileRequest.get(path));

        assertThat(answers).hasSize(1).allMatch(answer -> answer.status() >= 400 && answer.status() < 500);
    }
}
