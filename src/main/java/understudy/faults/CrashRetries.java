package understudy.faults;

/**
 * Retries of requests whose replica has crashed.
 *
 * @param onCrash which of them go on at another replica; the others fail
 * @param maxRetries how often a request may, at least 0; beyond that it fails, too
 */
public record CrashRetries(OnCrash onCrash, int maxRetries) {
    /** All requests of a replica that crashes fail. */
    public static final CrashRetries NONE = new CrashRetries(OnCrash.FAIL, 0);

    /** Reaction to a crash. */
    public enum OnCrash {
        /** All requests of the replica fail. */
        FAIL,
        /** Requests without a token begin anew elsewhere; output that a client has read cannot be taken back. */
        REROUTE,
        /**
         * All requests go on elsewhere: the tokens that a request has are part of its prompt from then on, as NVIDIA
         * Dynamo migrates requests. It is known at once that a replica has crashed, every token that was sampled has
         * reached its client, and no KV block comes along.
         */
        RESUME
    }

    /** Returns whether any request may go on elsewhere. */
    public boolean isAnyAllowed() {
        return onCrash != OnCrash.FAIL && maxRetries > 0;
    }

    /** Returns whether a request may, that has had so many retries, and has so many tokens. */
    public boolean isAllowed(int numRetries, int numTokens) {
        return numRetries < maxRetries && (onCrash == OnCrash.RESUME || (onCrash == OnCrash.REROUTE && numTokens == 0));
    }
}
