package understudy.chaos.law;

/**
 * One case in which a law was broken.
 *
 * @param law name of the law
 * @param callId call that shows it, or an empty text if it concerns the whole scenario
 * @param replica replica that it concerns, or an empty text
 * @param atNanos time since the scenario's start
 * @param reason one sentence with the values that break the law, and the bound
 */
public record Breach(String law, String callId, String replica, long atNanos, String reason) {}
