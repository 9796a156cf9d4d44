package understudy.sweep.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import understudy.scenario.ScenarioFile;
import understudy.settings.ScenarioException;
import understudy.sweep.SweepJob;
import understudy.sweep.SweepPlan;

/** Encrypted connections, with a certificate that has signed itself. */
final class TlsTest {
    private static final String PASSWORD = "password";

    @TempDir
    private Path directory;

    /** A driver that refuses a worker has understood what it says. */
    @Test
    @Timeout(value = 2, unit = TimeUnit.MINUTES)
    void driverAndWorker_understandEachOther() throws Exception {
        writeCertificate();
        var said = new CopyOnWriteArrayList<String>();
        var plan = new SweepPlan(List.of("conf/demo.conf"), List.of(), List.of(), Optional.empty());
        var job = new SweepJob(plan, new ScenarioFile(Map.of()), Map.of(), "understudy 1");
        var address = new HostPort("127.0.0.1", freePort());
        var driver = new ClusterExecutor(job, node(address), job.version(), line -> {});
        try {
            new ClusterWorker(node(new HostPort("127.0.0.1", 0)), List.of(address), "understudy 2", 1, said::add).run();
        } finally {
            driver.close();
        }

        assertThat(said).contains("refused: the sweep's driver is understudy 1, and this is understudy 2");
    }

    @Test
    void missingKey_isNamed() {
        assertThatThrownBy(() -> node(new HostPort("127.0.0.1", 0)))
                .isInstanceOf(ScenarioException.class)
                .hasMessageContaining(directory.resolve("tls.key").toString());
    }

    private Node node(HostPort address) {
        return Node.withTls(address, Optional.empty(), directory);
    }

    private static int freePort() throws IOException {
        try (var free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return free.getLocalPort();
        }
    }

    private void writeCertificate() throws Exception {
        var store = directory.resolve("store.p12");
        String command =
                "-genkeypair -keyalg RSA -alias node -dname CN=sweep -ext bc=ca:true -storetype PKCS12 -storepass "
                        + PASSWORD + " -keystore " + store;
        var keytool = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString()));
        keytool.addAll(List.of(command.split(" ")));
        assertThat(new ProcessBuilder(keytool).start().waitFor()).isZero();
        var keys = KeyStore.getInstance(store.toFile(), PASSWORD.toCharArray());
        var certificate = keys.getCertificate("node").getEncoded();
        write(
                "tls.key",
                "PRIVATE KEY",
                keys.getKey("node", PASSWORD.toCharArray()).getEncoded());
        write("tls.crt", "CERTIFICATE", certificate);
        write("ca.crt", "CERTIFICATE", certificate);
    }

    private void write(String file, String kind, byte[] content) throws IOException {
        String base64 = Base64.getMimeEncoder().encodeToString(content);
        Files.writeString(
                directory.resolve(file), "-----BEGIN " + kind + "-----\n" + base64 + "\n-----END " + kind + "-----\n");
    }
}
