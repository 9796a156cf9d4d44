package understudy.chaos.tls;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/**
 * Certificates of an authority that is made for one run. Their keys are in memory, and end with it.
 *
 * <p>The JDK has no public way to sign a certificate but its {@code keytool}, which every runtime has; a library for it
 * would be larger than the kit.
 */
public final class ReplicaCertificates {
    private static final String AUTHORITY = "ca";
    private static final long LIMIT_SECONDS = 60;

    private final String authority;
    private final Map<Leaf, SSLContext> contexts = new EnumMap<>(Leaf.class);

    /** A certificate that a replica can show. */
    public enum Leaf {
        /** That of the start. */
        FIRST(true, "-signer ca -ext san=ip:127.0.0.1,dns:localhost"),
        /** Another one like it, with another key. */
        RENEWED(true, "-signer ca -ext san=ip:127.0.0.1,dns:localhost"),
        /** One whose time is over. */
        EXPIRED(false, "-signer ca -ext san=ip:127.0.0.1,dns:localhost -startdate -10d -validity 5"),
        /** One of another host. */
        MISNAMED(false, "-signer ca -ext san=dns:another.invalid"),
        /** One that no authority has signed. */
        SELF_SIGNED(false, "-ext san=ip:127.0.0.1,dns:localhost");

        private final boolean isValid;
        private final String options;

        Leaf(boolean isValid, String options) {
            this.isValid = isValid;
            this.options = options;
        }

        /** Returns whether a gateway that knows the authority can trust it. */
        public boolean isValid() {
            return isValid;
        }

        private String alias() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * Makes an authority and its certificates, in some seconds.
     *
     * @throws IOException if the {@code keytool} of this runtime cannot be run
     */
    public ReplicaCertificates() throws IOException {
        var directory = Files.createTempDirectory("understudy-keys");
        var file = directory.resolve("keys.p12");
        String password = UUID.randomUUID().toString();
        try {
            make(file, password, AUTHORITY, "-ext bc:critical=ca:true -ext ku:critical=keyCertSign");
            for (var leaf : Leaf.values()) {
                make(file, password, leaf.alias(), leaf.options);
            }
            var keys = KeyStore.getInstance(file.toFile(), password.toCharArray());
            authority = pem(keys.getCertificate(AUTHORITY).getEncoded());
            for (var leaf : Leaf.values()) {
                contexts.put(leaf, context(keys, password.toCharArray(), leaf.alias()));
            }
        } catch (GeneralSecurityException e) {
            throw new IOException("no certificates for --tls: " + e.getMessage(), e);
        } finally {
            Files.deleteIfExists(file);
            Files.deleteIfExists(directory);
        }
    }

    private static void make(Path file, String password, String alias, String options) throws IOException {
        var command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-keyalg",
                "EC",
                "-groupname",
                "secp256r1",
                "-alias",
                alias,
                "-dname",
                "CN=understudy chaos " + alias,
                "-storetype",
                "PKCS12",
                "-keystore",
                file.toString(),
                "-storepass:env",
                "STORE_PASSWORD"));
        command.addAll(List.of(options.split(" ", -1)));
        var builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put("STORE_PASSWORD", password);
        var process = builder.start();
        try {
            // What it says is shorter than a pipe's buffer, and so does not keep it from its end.
            if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
                throw new IOException("no certificates for --tls: keytool does not end within " + LIMIT_SECONDS + " s");
            }
            if (process.exitValue() != 0) {
                throw new IOException("no certificates for --tls: keytool says "
                        + text(process.getInputStream()).strip());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while keytool ran", e);
        } finally {
            process.destroyForcibly();
        }
    }

    private static String text(InputStream stream) throws IOException {
        return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
    }

    private static String pem(byte[] certificate) {
        String lines = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(certificate);
        return "-----BEGIN CERTIFICATE-----\n" + lines + "\n-----END CERTIFICATE-----\n";
    }

    private static SSLContext context(KeyStore all, char[] password, String alias)
            throws GeneralSecurityException, IOException {
        var one = KeyStore.getInstance("PKCS12");
        one.load(null, password);
        one.setKeyEntry(alias, all.getKey(alias, password), password, all.getCertificateChain(alias));
        var keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(one, password);
        var context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), null, null);
        return context;
    }

    /** Returns the certificate of the authority, in PEM. */
    public String authority() {
        return authority;
    }

    /** Returns what a server needs that shows a certificate; sessions of one are not resumed with another one. */
    public SSLContext context(Leaf leaf) {
        return Objects.requireNonNull(contexts.get(leaf));
    }
}
