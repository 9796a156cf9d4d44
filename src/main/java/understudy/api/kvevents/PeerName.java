package understudy.api.kvevents;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Name of the host to which KV events go, which DNS may not know yet. As with libzmq, that is no mistake: in Kubernetes
 * the service behind a name may come later. The name is looked up in the background until it is known.
 */
final class PeerName {
    private static final Logger LOG = LoggerFactory.getLogger(PeerName.class);
    private static final long RETRY_MILLIS = 1000;

    private final String host;
    private volatile boolean isKnown;

    /** Looks the host of an endpoint up, if it has one: at once for the first time, later on in the background. */
    PeerName(String endpoint) {
        host = KvEventSettings.binds(endpoint) ? "" : KvEventSettings.host(endpoint);
        isKnown = resolves();
        if (!isKnown) {
            LOG.warn("KV events go to {}, whose name is not known yet; it is looked up until it is", endpoint);
            lookUpLater();
        }
    }

    boolean isKnown() {
        return isKnown;
    }

    /** Handles a name that has vanished since it was known. */
    void lookUpAgain() {
        isKnown = false;
        lookUpLater();
    }

    private boolean resolves() {
        try {
            return host.isEmpty() || InetAddress.getByName(host) != null;
        } catch (UnknownHostException e) {
            return false;
        }
    }

    private void lookUpLater() {
        Executor onItsOwn = task -> {
            var thread = new Thread(task, "kv-events-dns");
            thread.setDaemon(true);
            thread.start();
        };
        CompletableFuture.delayedExecutor(RETRY_MILLIS, TimeUnit.MILLISECONDS, onItsOwn)
                .execute(this::lookUp);
    }

    private void lookUp() {
        if (resolves()) {
            LOG.info("the name {} is known now", host);
            isKnown = true;
        } else {
            lookUpLater();
        }
    }
}
