package understudy.chaos.autoscaler.fleet;

/**
 * Load from some time on, until the next step begins.
 *
 * @param atNanos time since the scenario's start
 * @param users clients of which each has one request after the other
 * @param requestsPerSecond requests that come besides, whether others have ended or not
 */
public record LoadStep(long atNanos, int users, double requestsPerSecond) {}
