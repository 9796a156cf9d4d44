package understudy.chaos.gateway.reference;

import java.io.IOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;
import org.apache.pekko.http.javadsl.ConnectionContext;
import org.apache.pekko.http.javadsl.HttpsConnectionContext;

/** Whom the gateway takes for a replica: who has a certificate of the authority, for the address. Any thread may use it. */
final class ReplicaTrust extends X509ExtendedTrustManager {
    private final X509ExtendedTrustManager authority;
    private final WrongDecision wrong;
    private final Map<Integer, X509Certificate> firstByPort = new ConcurrentHashMap<>();

    private ReplicaTrust(X509ExtendedTrustManager authority, WrongDecision wrong) {
        this.authority = authority;
        this.wrong = wrong;
    }

    /**
     * Returns what connections to replicas need.
     *
     * @param ca certificate of the authority, in PEM
     * @throws IOException if it cannot be read
     */
    static HttpsConnectionContext context(Path ca, WrongDecision wrong) throws IOException {
        try (var file = Files.newInputStream(ca)) {
            var store = KeyStore.getInstance(KeyStore.getDefaultType());
            store.load(null, null);
            store.setCertificateEntry(
                    "ca", CertificateFactory.getInstance("X.509").generateCertificate(file));
            var factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            factory.init(store);
            var authority = (X509ExtendedTrustManager) factory.getTrustManagers()[0];
            var context = SSLContext.getInstance("TLS");
            context.init(null, new TrustManager[] {new ReplicaTrust(authority, wrong)}, null);
            return ConnectionContext.httpsClient(context);
        } catch (GeneralSecurityException e) {
            throw new IOException(ca + ": " + e.getMessage(), e);
        }
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
            throws CertificateException {
        if (wrong == WrongDecision.TRUSTS_ANY_CERTIFICATE) {
            return;
        }
        authority.checkServerTrusted(chain, authType, engine);
        if (wrong == WrongDecision.PINS_FIRST_CERTIFICATE) {
            var first = firstByPort.putIfAbsent(engine.getPeerPort(), chain[0]);
            if (first != null && !first.equals(chain[0])) {
                throw new CertificateException("it is not the certificate that this replica had at first");
            }
        }
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket)
            throws CertificateException {
        authority.checkServerTrusted(chain, authType, socket);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType) throws CertificateException {
        authority.checkServerTrusted(chain, authType);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
            throws CertificateException {
        authority.checkClientTrusted(chain, authType, engine);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket)
            throws CertificateException {
        authority.checkClientTrusted(chain, authType, socket);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType) throws CertificateException {
        authority.checkClientTrusted(chain, authType);
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
        return authority.getAcceptedIssuers();
    }
}
