package understudy.api;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.workload.WholeNumbers;

/**
 * What a server is told before it starts.
 *
 * @param host address to listen at
 * @param port port to listen at, 0 for any that is free
 * @param portsPerReplica whether each replica also has a port of its own, counted up from the one behind {@code port}
 * @param downReplicas what such a port does while its replica is not up
 * @param models names under which the model is known, at least one; answers carry the first
 * @param apiKey what clients must send as bearer token to {@code /v1}, or empty
 * @param adminToken what clients must send as bearer token to {@code /admin}, or empty
 * @param allowedHosts names of the server beside those of loopback under which {@code /admin} and the like answer without a token
 * @param requestLimits what is let in
 * @param timeouts how long things may take
 * @param model how answers come about
 * @param tls the server's key and certificate, or null for plain HTTP
 */
public record ApiSettings(
        String host,
        int port,
        boolean portsPerReplica,
        DownReplicas downReplicas,
        List<String> models,
        String apiKey,
        String adminToken,
        List<String> allowedHosts,
        RequestLimits requestLimits,
        Timeouts timeouts,
        Model model,
        @Nullable Tls tls) {

    /**
     * What is let in.
     *
     * @param maxBodyBytes largest body, before and after decompression
     * @param maxBodyMemoryBytes most memory for all bodies at a time
     * @param maxInFlight most calls at a time, or 0 for no limit; more are told to come again
     * @param maxConnections most open connections
     * @param streamBuffer chunks that may wait for a slow reader before its stream is cut
     */
    public record RequestLimits(
            int maxBodyBytes, long maxBodyMemoryBytes, int maxInFlight, int maxConnections, int streamBuffer) {}

    /**
     * How long things may take, in wall time.
     *
     * @param request the longest a call may take, or zero for no limit
     * @param body the longest a body may take to arrive
     * @param idle after how long without any byte a connection is closed
     * @param drainDelay from the end of readiness to the first refusal of a call
     * @param drain how long calls in flight may go on after that
     * @param retryAfter what clients that are turned away are told to wait
     */
    public record Timeouts(
            Duration request, Duration body, Duration idle, Duration drainDelay, Duration drain, Duration retryAfter) {}

    /**
     * How answers come about.
     *
     * @param seed of the synthetic text
     * @param maxModelLen longest sequence in tokens, prompt and output together
     * @param hasPriorities whether requests may carry a priority
     * @param vocabulary of the tokenizer
     * @param answers where answers come from
     * @param lengths of synthetic answers that end by themselves
     * @param canned answers to replay
     * @param hashAlgorithm vLLM's name for how blocks are hashed
     */
    public record Model(
            long seed,
            int maxModelLen,
            boolean hasPriorities,
            Tokenizer.Vocabulary vocabulary,
            AnswerMode answers,
            WholeNumbers lengths,
            CannedAnswers canned,
            String hashAlgorithm) {}

    /**
     * A key store.
     *
     * @param keyStore a PKCS12 or JKS file
     */
    public record Tls(Path keyStore, String password) {}

    /** Returns the name that answers carry. */
    String servedModel() {
        return models.get(0);
    }
}
