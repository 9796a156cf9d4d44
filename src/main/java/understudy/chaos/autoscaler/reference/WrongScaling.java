package understudy.chaos.autoscaler.reference;

import java.util.Locale;

/** What a reference autoscaler gets wrong. */
public enum WrongScaling {
    /** None: the autoscaler keeps all laws. */
    NONE,
    /** Metrics that are missing, or no numbers, count as 0. */
    MISSING_AS_ZERO,
    /** Time stamps of metrics do not matter. */
    TRUSTS_STALE_SERIES,
    /** A lower number of replicas is wanted at once. */
    NO_STABILIZATION,
    /** The mean of ready replicas is multiplied by all, so that each evaluation while some start asks for more. */
    ASKS_AGAIN_WHILE_STARTING,
    /** The maximum does not matter. */
    IGNORES_MAXIMUM,
    /** After the first call of the scale subresource that fails, nothing more is done. */
    GIVES_UP_AT_API_ERROR,
    /** A call of the scale subresource that fails is repeated without a pause. */
    HAMMERS_API,
    /** The scale subresource is read once, and each write names the version of then. */
    KEEPS_STALE_VERSION,
    /** Only metrics of replicas count, of which there are none at zero. */
    SEES_REPLICAS_ONLY,
    /** No replica is ever given up. */
    NEVER_DOWN,
    /** A higher number of replicas has to be asked for during 3 s. */
    SLOW_UP;

    /** Returns the name in lower case and with hyphens. */
    public String text() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
