package understudy.chaos.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import understudy.chaos.evidence.Attempt;
import understudy.chaos.proxy.ReplicaFault.Kind;
import understudy.chaos.tls.ReplicaCertificates;
import understudy.chaos.wire.BodyParts;
import understudy.chaos.wire.HttpHead;
import understudy.chaos.wire.Wire;
import understudy.runtime.Stopwatch;

/** A replica that speaks TLS, as a client sees it that trusts the authority and looks at the name. */
@Timeout(60)
final class TlsInterposerTest {
    private static ReplicaCertificates certificates;
    private static SSLContext trusting;

    private final AttemptLog log = new AttemptLog(Stopwatch.start());
    private ScriptedEngine engine;
    private Interposer replica;

    @BeforeAll
    static void make() throws IOException, GeneralSecurityException {
        certificates = new ReplicaCertificates();
        var store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        byte[] pem = certificates.authority().getBytes(StandardCharsets.US_ASCII);
        store.setCertificateEntry(
                "ca", CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(pem)));
        var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        trusting = SSLContext.getInstance("TLS");
        trusting.init(null, trust.getTrustManagers(), null);
    }

    @BeforeEach
    void start() throws IOException {
        engine = new ScriptedEngine();
        replica = new Interposer("r", 0, new AtomicLong(), certificates, log);
        replica.forwardTo(engine.address());
    }

    @AfterEach
    void stop() {
        replica.close();
        engine.close();
    }

    private SSLSocket connect() throws IOException {
        var socket = (SSLSocket) trusting.getSocketFactory().createSocket("127.0.0.1", replica.port());
        var parameters = socket.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        socket.setSSLParameters(parameters);
        return socket;
    }

    private static X509Certificate shown(SSLSocket socket) throws IOException {
        socket.startHandshake();
        return (X509Certificate) socket.getSession().getPeerCertificates()[0];
    }

    /** Sends a call that is not streamed, and returns the body of its answer. */
    private static String whole(Wire wire) throws IOException {
        String body = "{\"prompt\":\"call-0001\"}";
        wire.send(("POST /v1/completions HTTP/1.1\r\nHost: r\r\nContent-Length: " + body.length() + "\r\n\r\n" + body)
                .getBytes(StandardCharsets.US_ASCII));
        var head = HttpHead.read(wire, () -> {});
        assertThat(head).isNotNull();
        var parts = BodyParts.ofResponse(head, "POST", wire);
        return new String(parts.next(() -> {}), StandardCharsets.UTF_8);
    }

    private void begin(Kind kind) {
        replica.begin(ReplicaFault.of(kind));
    }

    @Test
    void keptConnectionGoesOnWhenTheCertificateIsRenewed() throws IOException {
        try (var socket = connect();
                var wire = new Wire(socket)) {
            var first = shown(socket);
            assertThat(whole(wire)).isEqualTo(ScriptedEngine.WHOLE);
            begin(Kind.RENEWED_CERTIFICATE);

            assertThat(whole(wire)).isEqualTo(ScriptedEngine.WHOLE);
            try (var next = connect()) {
                assertThat(shown(next)).isNotEqualTo(first);
            }
        }
        assertThat(log.attempts()).hasSize(2).noneMatch(Attempt::hasBadCertificate);
    }

    @Test
    void certificatesThatDoNotVerifyAreRefused() throws IOException {
        begin(Kind.EXPIRED_CERTIFICATE);
        assertRefused().hasRootCauseInstanceOf(CertificateExpiredException.class);
        replica.endAll();

        begin(Kind.MISNAMED_CERTIFICATE);
        assertRefused().hasMessageContaining("127.0.0.1");
        replica.endAll();

        begin(Kind.SELF_SIGNED_CERTIFICATE);
        assertRefused().hasMessageContaining("certification path");
        replica.endAll();

        try (var socket = connect()) {
            assertThat(shown(socket).getSubjectAlternativeNames()).hasSize(2);
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
        assertThat(log.attempts()).isEmpty();
    }

    private AbstractThrowableAssert<?, ? extends Throwable> assertRefused() {
        return assertThatThrownBy(() -> {
                    try (var socket = connect()) {
                        shown(socket);
                    }
                })
                .isInstanceOf(SSLHandshakeException.class);
    }

    @Test
    void requestsOfAClientThatDoesNotLookAreRecorded() throws IOException, GeneralSecurityException {
        begin(Kind.SELF_SIGNED_CERTIFICATE);
        var blind = SSLContext.getInstance("TLS");
        blind.init(null, new TrustManager[] {new Credulous()}, null);
        try (var wire = new Wire(blind.getSocketFactory().createSocket("127.0.0.1", replica.port()))) {
            assertThat(whole(wire)).isEqualTo(ScriptedEngine.WHOLE);
        }
        assertThat(log.attempts()).singleElement().matches(Attempt::hasBadCertificate);
    }

    @Test
    void deathResetsTheConnectionBelow() throws IOException {
        try (var socket = connect()) {
            shown(socket);
            replica.refuse();

            assertThatThrownBy(() -> socket.getInputStream().read()).isInstanceOf(IOException.class);
        }
        assertThatThrownBy(() -> new Socket(InetAddress.getLoopbackAddress(), replica.port()).close())
                .isInstanceOf(IOException.class);
        replica.listenAgain();
        try (var socket = connect()) {
            assertThat(List.of(shown(socket))).hasSize(1);
        }
    }

    /** Trusts everybody. */
    private static final class Credulous extends X509ExtendedTrustManager {
        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
