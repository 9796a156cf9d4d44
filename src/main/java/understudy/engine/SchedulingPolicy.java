package understudy.engine;

/** In which order waiting requests are admitted, and who is preempted when blocks run out. */
public enum SchedulingPolicy {
    /** First come, first served; the request admitted last is preempted. */
    FCFS,
    /** By (priority, arrival, request id); the request with the largest (priority, arrival) is preempted. */
    PRIORITY
}
