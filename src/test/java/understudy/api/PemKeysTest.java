package understudy.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.security.interfaces.ECPrivateKey;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.settings.ScenarioException;

/** Certificates in PEM, which change while the server runs. */
final class PemKeysTest {
    private static final char[] PASSWORD = "secret".toCharArray();

    @AutoClose
    private final ServerFixture server = new ServerFixture();

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"RSA", "EC"})
    void certificate_isShown(String algorithm) throws Exception {
        write("one", algorithm);
        start();

        assertThat(shown()).isEqualTo("CN=one");
    }

    /** What cert-manager and OpenSSL write by default, the latter with the curve in front. */
    @ParameterizedTest
    @ValueSource(strings = {"", "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n"})
    void sec1Key_isRead(String parameters) throws Exception {
        write("one", "EC");
        var keys = KeyStore.getInstance(folder.resolve("oneEC.p12").toFile(), PASSWORD);
        byte[] number = ((ECPrivateKey) keys.getKey("a", PASSWORD)).getS().toByteArray();
        // RFC 5915: a sequence of the integer 1 and an octet string; all lengths are below 128.
        var key = ByteBuffer.allocate(7 + number.length)
                .put(new byte[] {0x30, (byte) (5 + number.length), 0x02, 1, 1, 0x04, (byte) number.length})
                .put(number);
        Files.writeString(folder.resolve("tls.key"), parameters + pem("EC PRIVATE KEY", key.array()));

        start();

        assertThat(shown()).isEqualTo("CN=one");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "30", "3003020101", "30050201010420", "308401010101", "3008020101048201010101"})
    void brokenSec1Key_isRefused(String der) throws Exception {
        write("one", "EC");
        Files.writeString(
                folder.resolve("tls.key"), pem("EC PRIVATE KEY", HexFormat.of().parseHex(der)));

        assertThatThrownBy(this::start).isInstanceOf(ScenarioException.class).hasMessageContaining("tls.key");
    }

    @Test
    void newCertificate_isShownToNewConnections() throws Exception {
        write("one", "EC");
        start();
        assertThat(shown()).isEqualTo("CN=one");

        write("two", "RSA");
        assertThat(shown()).isEqualTo("CN=two");
    }

    @Test
    void brokenFiles_leaveTheCertificate() throws Exception {
        write("one", "EC");
        start();

        Files.writeString(folder.resolve("tls.crt"), "nothing");
        assertThat(shown()).isEqualTo("CN=one");
        Files.delete(folder.resolve("tls.key"));
        assertThat(shown()).isEqualTo("CN=one");

        write("two", "EC");
        assertThat(shown()).isEqualTo("CN=two");
    }

    @Test
    void filesThatCannotBeUsed_areRefusedAtTheStart() throws Exception {
        write("one", "EC");
        var key = Files.readString(folder.resolve("tls.key"));
        Files.writeString(folder.resolve("tls.key"), "nothing");
        assertThatThrownBy(this::start)
                .isInstanceOf(ScenarioException.class)
                .hasMessageContaining("server.tls-certfile is")
                .hasMessageContaining("tls.key has no private key in PEM");

        for (String algorithm : List.of("RSA", "EC")) {
            write("two", algorithm);
            Files.writeString(folder.resolve("tls.key"), key);
            assertThatThrownBy(this::start).hasMessageContaining("is not the key of");
        }

        server.moreSettings = "server.tls-certfile = a.pem";
        assertThatThrownBy(server::start).hasMessageContaining("which needs server.tls-keyfile, too");
    }

    private void start() {
        server.moreSettings = "server.tls-certfile = \"" + folder.resolve("tls.crt") + "\"\nserver.tls-keyfile = \""
                + folder.resolve("tls.key") + "\"";
        server.start();
    }

    /** Returns whom the certificate of a new connection names. */
    private String shown() throws IOException, GeneralSecurityException {
        var context = SSLContext.getInstance("TLS");
        context.init(null, new TrustManager[] {new TrustsAll()}, null);
        try (var socket = (SSLSocket) context.getSocketFactory()
                .createSocket(
                        InetAddress.getLoopbackAddress(),
                        server.server().address().getPort())) {
            socket.startHandshake();
            var certificate = (X509Certificate) socket.getSession().getPeerCertificates()[0];
            return certificate.getSubjectX500Principal().getName();
        } catch (SSLException e) {
            throw new IOException("no handshake", e);
        }
    }

    private void write(String name, String algorithm) throws Exception {
        var store = folder.resolve(name + algorithm + ".p12");
        var keytool = Path.of(System.getProperty("java.home"), "bin", "keytool");
        assumeTrue(Files.isExecutable(keytool), "there is no " + keytool);
        var made = new ProcessBuilder(
                        keytool.toString(),
                        "-genkeypair",
                        "-alias",
                        "a",
                        "-keyalg",
                        algorithm,
                        "-dname",
                        "CN=" + name,
                        "-storetype",
                        "PKCS12",
                        "-storepass",
                        "secret",
                        "-keystore",
                        store.toString())
                .redirectErrorStream(true)
                .start();
        assertThat(made.waitFor()).isZero();
        var keys = KeyStore.getInstance(store.toFile(), PASSWORD);
        Files.writeString(
                folder.resolve("tls.key"),
                pem("PRIVATE KEY", keys.getKey("a", PASSWORD).getEncoded()));
        Files.writeString(
                folder.resolve("tls.crt"),
                pem("CERTIFICATE", keys.getCertificate("a").getEncoded()));
    }

    private static String pem(String label, byte[] der) {
        return "-----BEGIN " + label + "-----\n" + Base64.getMimeEncoder().encodeToString(der) + "\n-----END " + label
                + "-----\n";
    }

    private static final class TrustsAll implements X509TrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType) {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
