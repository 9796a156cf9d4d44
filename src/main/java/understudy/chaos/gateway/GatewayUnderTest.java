package understudy.chaos.gateway;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A kind of gateway that the kit can start, as often as it needs. */
public interface GatewayUnderTest {

    /** Returns how reports name it. */
    String name();

    /**
     * Starts a gateway in front of replicas, and returns when it accepts connections.
     *
     * @param setup where it listens, and what it finds behind it
     * @return the gateway, which the caller closes
     * @throws IOException if it does not start, or the thread is interrupted meanwhile; the message says why
     */
    Running start(Setup setup) throws IOException;

    /**
     * What a gateway is told at its start.
     *
     * @param port port of 127.0.0.1 at which it listens
     * @param backends replicas behind it; some of them may be down, now or for ever
     * @param directory scratch directory of its own
     * @param ca certificate of the replicas' authority, in PEM; null if they do not speak TLS
     */
    record Setup(
            int port,
            List<Backend> backends,
            Path directory,
            @Nullable Path ca) {
        public Setup {
            backends = List.copyOf(backends);
        }
    }

    /**
     * A replica as a gateway knows it.
     *
     * @param name name of the replica in the evidence
     * @param uri its address, such as {@code http://127.0.0.1:9001}, or with {@code https}
     * @param kvEvents address of its KV events, such as {@code tcp://127.0.0.1:9101}; null if it publishes none
     */
    record Backend(String name, URI uri, @Nullable URI kvEvents) {}

    /** A gateway that runs. */
    interface Running extends AutoCloseable {
        /** Returns the address that clients call. */
        URI uri();

        /** Returns whether its process, or what stands for it, is still there. */
        boolean isAlive();

        /** Ends it with all that it has started, within a few seconds, whatever state it is in. */
        @Override
        void close();
    }
}
