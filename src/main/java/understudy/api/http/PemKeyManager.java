package understudy.api.http;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.List;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedKeyManager;
import org.apache.pekko.pki.pem.DERPrivateKeyLoader;
import org.apache.pekko.pki.pem.PEMDecoder;
import org.apache.pekko.pki.pem.PEMLoadingException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Key and certificates of PEM files, as vLLM has them with {@code --enable-ssl-refresh}: each handshake looks whether the
 * files have changed, so that Kubernetes may exchange them while the server runs. Files that are broken, or halfway
 * exchanged, leave the key that was there.
 */
final class PemKeyManager extends X509ExtendedKeyManager {
    private static final Logger LOG = LoggerFactory.getLogger(PemKeyManager.class);
    private static final byte[] SAMPLE = {1};

    private final HttpSettings.PemKey files;
    private int numRead;
    private Contents read;
    private volatile Pair pair;

    /** Pair for handshakes that have begun before the files changed; null until they do. */
    private volatile @Nullable Pair previous;

    private String lastWarning = "";

    /** Texts of both files. They alone tell whether the files have changed, not links or times. */
    private record Contents(String certificates, String key) {}

    /** A private key, and the certificates from its own on. */
    private record Pair(String alias, PrivateKey key, List<X509Certificate> chain) {}

    /**
     * Reads the files.
     *
     * @throws IllegalArgumentException if they are not what they should be; the message names the file
     */
    PemKeyManager(HttpSettings.PemKey files) throws IOException {
        this.files = files;
        read = contents();
        pair = pair(read);
    }

    private Contents contents() throws IOException {
        return new Contents(text(files.certificates()), text(files.key()));
    }

    private static String text(Path file) throws IOException {
        return Files.readString(file, StandardCharsets.ISO_8859_1);
    }

    private Pair pair(Contents contents) {
        var chain = chain(contents.certificates);
        var key = key(contents.key, chain.get(0).getPublicKey());
        return new Pair("server-" + numRead++, key, chain);
    }

    private List<X509Certificate> chain(String pem) {
        try {
            var all = CertificateFactory.getInstance("X.509")
                    .generateCertificates(new ByteArrayInputStream(pem.getBytes(StandardCharsets.ISO_8859_1)));
            var chain = all.stream().map(X509Certificate.class::cast).toList();
            if (chain.isEmpty()) {
                throw unusable(files.certificates(), "has no certificate");
            }
            return chain;
        } catch (GeneralSecurityException e) {
            throw unusable(files.certificates(), "has no certificates in PEM: " + e.getMessage());
        }
    }

    /** A certificate says what kind of key it is for. */
    private PrivateKey key(String pem, PublicKey counterpart) {
        try {
            // OpenSSL writes the name of the curve before its key.
            var data = PEMDecoder.decode(pem.substring(Math.max(0, pem.indexOf("-----BEGIN EC PRIVATE KEY"))));
            var key = switch (data.label()) {
                case "PRIVATE KEY" ->
                    KeyFactory.getInstance(counterpart.getAlgorithm())
                            .generatePrivate(new PKCS8EncodedKeySpec(data.bytes()));
                case "EC PRIVATE KEY" -> Sec1Key.read(data.bytes(), counterpart);
                default -> DERPrivateKeyLoader.load(data);
            };
            if (!fit(key, counterpart)) {
                throw unusable(files.key(), "is not the key of " + files.certificates());
            }
            return key;
        } catch (PEMLoadingException e) {
            throw unusable(files.key(), "has no private key in PEM (PKCS#8, PKCS#1 or SEC 1): " + e.getMessage());
        } catch (GeneralSecurityException e) {
            throw unusable(files.key(), "is not the key of " + files.certificates() + ": " + e.getMessage());
        }
    }

    /** Returns whether the one verifies what the other signs. */
    private static boolean fit(PrivateKey key, PublicKey counterpart) throws GeneralSecurityException {
        var signature = Signature.getInstance(
                switch (counterpart.getAlgorithm()) {
                    case "RSA" -> "SHA256withRSA";
                    case "EC" -> "SHA256withECDSA";
                    default -> counterpart.getAlgorithm();
                });
        signature.initSign(key);
        signature.update(SAMPLE);
        byte[] signed = signature.sign();
        signature.initVerify(counterpart);
        signature.update(SAMPLE);
        return signature.verify(signed);
    }

    private static IllegalArgumentException unusable(Path file, String why) {
        return new IllegalArgumentException(file + " " + why);
    }

    private synchronized void refresh() {
        try {
            var now = contents();
            if (!now.equals(read)) {
                read = now;
                var replaced = pair;
                pair = pair(now);
                previous = replaced;
            }
            lastWarning = "";
        } catch (IOException | RuntimeException e) {
            warn(String.valueOf(e.getMessage()));
        }
    }

    /** Each handshake looks at the files, and finds them as broken as the one before. */
    private void warn(String why) {
        if (!why.equals(lastWarning)) {
            lastWarning = why;
            LOG.warn("the certificate stays as it was: {}", why);
        }
    }

    @Override
    public @Nullable String chooseEngineServerAlias(
            String keyType, Principal @Nullable [] issuers, @Nullable SSLEngine engine) {
        refresh();
        var chosen = pair;
        String algorithm = chosen.key.getAlgorithm();
        return keyType.equals(algorithm) || keyType.startsWith(algorithm + "_") ? chosen.alias : null;
    }

    @Override
    public @Nullable String chooseServerAlias(String keyType, Principal @Nullable [] issuers, @Nullable Socket socket) {
        return chooseEngineServerAlias(keyType, issuers, null);
    }

    private Pair of(String alias) {
        var old = previous;
        return old != null && old.alias.equals(alias) ? old : pair;
    }

    @Override
    public X509Certificate[] getCertificateChain(String alias) {
        return of(alias).chain.toArray(X509Certificate[]::new);
    }

    @Override
    public PrivateKey getPrivateKey(String alias) {
        return of(alias).key;
    }

    @Override
    public String @Nullable [] getServerAliases(String keyType, Principal @Nullable [] issuers) {
        return new String[] {pair.alias};
    }

    @Override
    public String @Nullable [] getClientAliases(String keyType, Principal @Nullable [] issuers) {
        return null;
    }

    @Override
    public @Nullable String chooseClientAlias(
            String[] keyTypes, Principal @Nullable [] issuers, @Nullable Socket socket) {
        return null;
    }
}
