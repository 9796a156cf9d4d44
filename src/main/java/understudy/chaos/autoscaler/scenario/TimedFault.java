package understudy.chaos.autoscaler.scenario;

import understudy.chaos.autoscaler.plane.PlaneFault;

/**
 * A fault, and when it happens.
 *
 * @param atNanos begin, since the scenario's start
 * @param durationNanos how long it lasts
 */
public record TimedFault(PlaneFault fault, long atNanos, long durationNanos) {}
