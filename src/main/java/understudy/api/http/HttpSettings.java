package understudy.api.http;

import io.soabase.recordbuilder.core.RecordBuilder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Settings of the server as an HTTP server, without regard to its API.
 *
 * @param host address to listen at
 * @param port port to listen at, 0 for any that is free
 * @param rootPath prefix that a proxy may leave on paths, or empty
 * @param unixSocket path of a Unix domain socket to listen at, too; null for none
 * @param tls the server's key and certificate, or null for plain HTTP
 * @param apiKey bearer token that clients must send to {@code /v1}, or empty
 * @param adminToken bearer token that clients must send to {@code /admin}, or empty, or {@link #NO_TOKEN_FITS}
 * @param allowedHosts names of the server beside those of loopback under which {@code /admin} and the like answer
 *     without a token
 * @param limits limits on bodies, calls, connections and streams
 * @param timeouts how long things may take
 */
@RecordBuilder
public record HttpSettings(
        String host,
        int port,
        String rootPath,
        @Nullable Path unixSocket,
        @Nullable Tls tls,
        String apiKey,
        String adminToken,
        List<String> allowedHosts,
        Limits limits,
        Timeouts timeouts) {
    /** A token that closes what asks for it, since no header can carry it. */
    public static final String NO_TOKEN_FITS = "\n";

    /**
     * Limits on bodies, calls, connections and streams.
     *
     * @param maxBodyBytes largest body, before and after decompression
     * @param maxBodyMemoryBytes most memory for all bodies at a time
     * @param maxInFlight most calls at a time, or 0 for no limit; more are told to retry
     * @param maxConnections most open connections
     * @param streamBuffer chunks that may wait for a slow reader before its stream is cut
     */
    public record Limits(
            int maxBodyBytes, long maxBodyMemoryBytes, int maxInFlight, int maxConnections, int streamBuffer) {}

    /**
     * Timeouts and delays, in wall time.
     *
     * @param request the longest a call may take, or zero for no limit
     * @param body the longest a body may take to arrive
     * @param idle after how long without any byte a connection is closed
     * @param drainDelay from the end of readiness to the first refusal of a call
     * @param drain how long calls in flight may go on after that
     * @param retryAfter waiting time that clients are told when they are turned away
     */
    public record Timeouts(
            Duration request, Duration body, Duration idle, Duration drainDelay, Duration drain, Duration retryAfter) {}

    /** Source of the server's key and certificate. */
    public sealed interface Tls {}

    /**
     * A key store.
     *
     * @param keyStore a PKCS12 or JKS file
     */
    public record StoredKey(Path keyStore, String password) implements Tls {}

    /**
     * PEM files, which are read again when they change.
     *
     * @param certificates the server's certificate, and behind it those that lead to one that clients trust
     * @param key its private key, not encrypted: PKCS#8, or PKCS#1 of RSA
     */
    public record PemKey(Path certificates, Path key) implements Tls {}
}
