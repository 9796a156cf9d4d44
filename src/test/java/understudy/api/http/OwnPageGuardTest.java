package understudy.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Who gets through to the paths that control or show the emulation. */
final class OwnPageGuardTest {
    private static final OwnPageGuard PLAIN = new OwnPageGuard(false, false, List.of("my-box.example", "[FD00::7]"));
    private static final OwnPageGuard TLS = new OwnPageGuard(true, false, List.of());
    private static final OwnPageGuard WITH_TOKEN = new OwnPageGuard(false, true, List.of());

    /** A page that the browser vouches for may have come by a proxy that speaks TLS for a plain server. */
    @ParameterizedTest
    @CsvSource({
        "my-box.example, https://my-box.example, same-origin, true",
        "my-box.example, https://my-box.example, , false",
        "my-box.example, https://my-box.example, same-site, false",
        "my-box.example, https://evil.example, same-origin, false",
        "my-box.example:8443, https://my-box.example, same-origin, false"
    })
    void pageBehindATlsProxy_isOwnIfTheBrowserSaysSo(
            String host, String origin, @Nullable String fetchSite, boolean isOwn) {
        assertThat(PLAIN.refusal(sender(host, origin, fetchSite)).isEmpty()).isEqualTo(isOwn);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "localhost",
                "localhost:8000",
                "LocalHost:8000",
                "127.0.0.1",
                "127.0.0.1:1",
                "[::1]",
                "[::1]:8000",
                "[0:0:0:0:0:0:0:1]:8000",
                "my-box.example",
                "MY-BOX.example:9000",
                "[fd00::7]:8000"
            })
    void ownNames_areLetThrough(String host) {
        assertThat(PLAIN.refusal(sender(host, null, null))).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                ":8000",
                "evil.example",
                "evil.example:8000",
                "localhost.evil.example:8000",
                "evil-localhost",
                "evil.example.my-box.example",
                "localhost.",
                "127.0.0.1.",
                "127.0.0.1.evil.example",
                "127.0.0.2",
                "127.1",
                "2130706433",
                "0.0.0.0",
                "[::]",
                "[::1",
                "::1",
                "[::1].evil.example",
                "[::1%lo]",
                "localhost@evil.example",
                "evil.example@localhost",
                "localhost:80@evil.example",
                "http://localhost",
                "localhost/",
                "localhost:",
                "localhost:port",
                "localhost:123456",
                "localhost, evil.example",
                "localhost\tevil.example",
                "loc\u0430lhost"
            })
    void otherNames_needAToken(String host) {
        assertThat(PLAIN.refusal(sender(host, null, null)).orElse("")).contains("server.allowed-hosts");
        assertThat(WITH_TOKEN.refusal(sender(host, null, null))).isEmpty();
    }

    @Test
    void namelessRequests_needAToken() {
        var nameless = new OwnPageGuard.Sender(List.of(), List.of(), List.of());
        var twoNames = new OwnPageGuard.Sender(List.of("localhost", "localhost"), List.of(), List.of());

        assertThat(PLAIN.refusal(nameless)).isPresent();
        assertThat(PLAIN.refusal(twoNames)).isPresent();
        assertThat(WITH_TOKEN.refusal(nameless)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "localhost:8000, http://localhost:8000",
        "localhost:8000, HTTP://LOCALHOST:8000",
        "localhost, http://localhost",
        // 80 is the port of an http URL without one.
        "localhost:80, http://localhost",
        "localhost, http://localhost:80",
        "127.0.0.1:8000, http://127.0.0.1:8000",
        "[::1]:8000, http://[::1]:8000",
        "my-box.example:8000, http://my-box.example:8000",
    })
    void ownPage_isLetThrough(String host, String origin) {
        assertThat(PLAIN.refusal(sender(host, origin, null))).isEmpty();
        assertThat(PLAIN.refusal(sender(host, origin, "same-origin"))).isEmpty();
        assertThat(WITH_TOKEN.refusal(sender(host, origin, "same-origin"))).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "localhost:8000, https://evil.example",
        "localhost:8000, http://evil.example:8000",
        "localhost:8000, null",
        "localhost:8000, ''",
        "localhost:8000, http://localhost",
        "localhost:8000, http://localhost:8001",
        "localhost:8000, http://127.0.0.1:8000",
        "127.0.0.1:8000, http://localhost:8000",
        "[::1]:8000, http://localhost:8000",
        "[::1]:8000, http://[::2]:8000",
        "localhost, http://localhost.",
        "localhost, http://localhost.evil.example",
        "localhost, http://localhost@evil.example",
        "localhost, http://evil.example@localhost",
        "localhost:8000, http://localhost:8000@evil.example",
        "localhost, http://localhost/",
        "localhost, http://localhost/evil.example",
        "localhost, http://localhost\\.evil.example",
        "localhost, http://localhost?.evil.example",
        "localhost, http://localhost#.evil.example",
        "localhost, http://localhost http://evil.example",
        "localhost, 'http://localhost, http://evil.example'",
        "localhost, http:localhost",
        "localhost, //localhost",
        "localhost, localhost",
        "localhost, ftp://localhost",
        "localhost, file://",
        "localhost, chrome-extension://localhost",
        "localhost, http://",
        "localhost, http://:80",
        "localhost, http://localhost:",
        "localhost, http://localhost:080000",
    })
    void foreignPage_isRefusedWithAndWithoutToken(String host, String origin) {
        var sender = sender(host, origin, null);

        assertThat(PLAIN.refusal(sender)).contains(OwnPageGuard.FOREIGN_PAGE);
        assertThat(WITH_TOKEN.refusal(sender)).contains(OwnPageGuard.FOREIGN_PAGE);
        assertThat(PLAIN.isForeignPage(sender)).isTrue();
        // Whatever else a request says.
        assertThat(PLAIN.refusal(sender(host, origin, "same-origin"))).contains(OwnPageGuard.FOREIGN_PAGE);
    }

    @Test
    void reboundName_isItsOwnPageYetNotOurs() {
        var sender = sender("evil.example:8000", "http://evil.example:8000", "same-origin");

        assertThat(PLAIN.isForeignPage(sender)).isFalse();
        assertThat(PLAIN.refusal(sender).orElse("")).contains("server.allowed-hosts");
    }

    @Test
    void oneForeignOriginAmongSeveral_isRefused() {
        var own = "http://localhost";
        for (var origins : List.of(List.of(own, "http://evil.example"), List.of("http://evil.example", own))) {
            var sender = new OwnPageGuard.Sender(List.of("localhost"), origins, List.of());
            assertThat(PLAIN.refusal(sender)).contains(OwnPageGuard.FOREIGN_PAGE);
        }
    }

    @Test
    void originWithoutHost_isRefused() {
        var sender = new OwnPageGuard.Sender(List.of(), List.of("http://localhost"), List.of());

        assertThat(WITH_TOKEN.refusal(sender)).contains(OwnPageGuard.FOREIGN_PAGE);
    }

    @ParameterizedTest
    @CsvSource({
        "same-origin, true",
        // Typed into the address bar, or a bookmark.
        "none, true",
        // Another port of this machine is the same site.
        "same-site, false",
        "cross-site, false",
        "Same-Origin, false",
        "'none, cross-site', false",
        "'', false",
        "tomorrows-word, false",
    })
    void fetchSite_countsWithoutAnOrigin(String site, boolean isLetThrough) {
        assertThat(PLAIN.refusal(sender("localhost", null, site)).isEmpty()).isEqualTo(isLetThrough);
        assertThat(WITH_TOKEN.refusal(sender("localhost", null, site)).isEmpty())
                .isEqualTo(isLetThrough);
    }

    @ParameterizedTest
    @CsvSource({
        "localhost:8000, https://localhost:8000, true",
        // 443 is the port of an https URL without one.
        "localhost:443, https://localhost, true",
        "localhost, https://localhost:443, true",
        "localhost:8000, http://localhost:8000, false",
        "localhost:80, https://localhost, false",
    })
    void tls_makesHttpsTheOwnScheme(String host, String origin, boolean isLetThrough) {
        assertThat(TLS.refusal(sender(host, origin, null)).isEmpty()).isEqualTo(isLetThrough);
    }

    @ParameterizedTest
    @CsvSource({
        "admin, true",
        "live, true",
        "reset_prefix_cache, true",
        "sleep, true",
        "wake_up, true",
        "is_sleeping, true",
        "server_info, true",
        "v1, false",
        "admin2, false",
        "ADMIN, false",
        "'', false",
        "metrics, false",
    })
    void paths_areGuardedByTheirFirstSegment(String segment, boolean isGuarded) {
        assertThat(OwnPageGuard.guards(segment)).isEqualTo(isGuarded);
    }

    @ParameterizedTest
    @CsvSource({
        "my-box, true",
        "My_Box.example, true",
        "10.0.0.1, true",
        "[fd00::7], true",
        "my-box:8000, false",
        "http://my-box, false",
        "fd00::7, false",
        "*, false",
        "'', false",
        "my box, false",
    })
    void hosts_haveNeitherPortNorScheme(String text, boolean isHost) {
        assertThat(OwnPageGuard.isHost(text)).isEqualTo(isHost);
    }

    private static OwnPageGuard.Sender sender(String host, @Nullable String origin, @Nullable String site) {
        return new OwnPageGuard.Sender(
                List.of(host), origin == null ? List.of() : List.of(origin), site == null ? List.of() : List.of(site));
    }
}
