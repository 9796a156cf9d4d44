package understudy.engine.sglang;

/** Order of the waiting queue (SGLang {@code schedule_policy}). */
public enum SchedulePolicy {
    /** As they came, or by priority. */
    FCFS,
    /** Longest prefix in the tree first. */
    LPM,
    /** Depth first through the tree, heavier branches first. */
    DFS_WEIGHT,
    /** Longest output first. */
    LOF,
    /** Any order, from a random stream of its own. */
    RANDOM,
    /** Keys of which most requests run first. */
    ROUTING_KEY
}
