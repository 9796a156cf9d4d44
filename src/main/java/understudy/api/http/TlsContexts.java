package understudy.api.http;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/** TLS contexts of a server, from its key and certificates. */
public final class TlsContexts {
    private TlsContexts() {}

    /**
     * Returns the context of a key.
     *
     * @throws IllegalArgumentException if its files are not what they should be
     */
    public static SSLContext of(HttpSettings.Tls tls) {
        try {
            var context = SSLContext.getInstance("TLS");
            context.init(keys(tls), null, null);
            return context;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (GeneralSecurityException e) {
            throw new IllegalArgumentException("no usable key: " + e.getMessage(), e);
        }
    }

    private static KeyManager[] keys(HttpSettings.Tls tls) throws IOException, GeneralSecurityException {
        if (tls instanceof HttpSettings.PemKey pem) {
            return new KeyManager[] {new PemKeyManager(pem)};
        }
        var stored = (HttpSettings.StoredKey) tls;
        try (var file = Files.newInputStream(stored.keyStore())) {
            var password = stored.password().toCharArray();
            var store = KeyStore.getInstance(stored.keyStore().toFile(), password);
            store.load(file, password);
            var factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            factory.init(store, password);
            return factory.getKeyManagers();
        }
    }
}
