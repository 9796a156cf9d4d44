package understudy.chaos.gateway.reference;

import java.util.Locale;

/** A decision that the gateway gets wrong on purpose; all others stay right. */
public enum WrongDecision {
    /** None: the gateway keeps all laws. */
    NONE,
    /** A stream that breaks is begun again on another replica, behind the tokens that the client has. */
    RETRY_AFTER_FIRST_BYTE,
    /** No replica is probed, and one that fails is asked again at once. */
    NO_HEALTH_CHECK,
    /** A session stays on its first replica, whatever becomes of that. */
    STICKY_FOR_EVER,
    /** A replica that refuses with {@code Retry-After} is asked again at once, and the client is not told. */
    IGNORES_RETRY_AFTER,
    /** Prefixes are compared by characters of the body, of which the first ones are the same in each. */
    PREFIXES_BY_CHARACTERS,
    /** Requests go to the replicas in turn, wherever their prefixes are. */
    ROUND_ROBIN,
    /** A connection to a replica stays open behind its answer, and is not used again. */
    LEAKS_CONNECTIONS,
    /** A request goes on at its replica when its client has left. */
    RUNS_ON,
    /** A stream is passed on once it is whole. */
    BUFFERS_STREAMS,
    /** A stream that breaks is ended as if it were whole. */
    SWALLOWS_STREAM_ERRORS,
    /** A replica is taken for what it says, whatever its certificate is. */
    TRUSTS_ANY_CERTIFICATE,
    /** A replica must keep the certificate that it had at first. */
    PINS_FIRST_CERTIFICATE,
    /** A replica that sends nothing is waited for without a limit. */
    WAITS_FOR_EVER,
    /** A replica is well only if its answers to probes are of now, by their date and the gateway's clock. */
    COMPARES_CLOCKS,
    /** A replica is sent only calls for the models that it lists. */
    BELIEVES_MODEL_LISTS,
    /** Load is what metrics say, however old, and what was sent since does not count. */
    BELIEVES_METRICS(true),
    /** Load is what metrics say, and NaN, which nothing is less than, is a number like any other. */
    BELIEVES_NAN(true),
    /** Load is what metrics say, and a series that is not there is 0. */
    MISSING_IS_IDLE(true),
    /** Metrics with a counter that has fallen are taken for old ones, and replicas without new metrics for dead. */
    COUNTERS_ONLY_GROW(true),
    /** No request is sent to a replica that says that a thousand are waiting, even if there is no other one. */
    TURNS_AWAY_BY_QUEUE(true),
    /** Each call waits for the metrics of all replicas. */
    WAITS_FOR_METRICS(true),
    /** Only what events say is cached; what was sent since is not. */
    BELIEVES_LATE_EVENTS(true),
    /** Only what events say is cached; those that are missing are passed over, and come too late when they come. */
    SKIPS_LOST_EVENTS(true),
    /** Only what events say is cached; those that are missing are waited for without a limit. */
    WAITS_FOR_LOST_EVENTS(true),
    /** Only what events say is cached; those of a sequence that begins again are taken for old ones. */
    TAKES_RESTART_FOR_OLD(true),
    /** Only what events say is cached; one that comes again is taken for a restart, which empties the cache. */
    TAKES_DUPLICATE_FOR_RESTART(true),
    /** Only what events say is cached; a prompt is looked up in blocks of 16 tokens, whatever the replica's are. */
    ASSUMES_BLOCK_SIZE(true);

    private final boolean isOfSignals;

    WrongDecision() {
        this(false);
    }

    WrongDecision(boolean isOfSignals) {
        this.isOfSignals = isOfSignals;
    }

    /** Returns whether it is about metrics or KV events, which only the informed gateway reads. */
    public boolean isOfSignals() {
        return isOfSignals;
    }

    /** Returns the name in lower case and with hyphens. */
    public String text() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
