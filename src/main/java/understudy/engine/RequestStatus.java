package understudy.engine;

/** Status of a request in the scheduler. */
enum RequestStatus {
    /** In a waiting queue, never scheduled. */
    WAITING,
    /** In a waiting queue, with blocks into which its KV is being loaded. */
    WAITING_FOR_REMOTE_KVS,
    /** In the running list. */
    RUNNING,
    /** In a waiting queue again, without blocks, with the output it had. */
    PREEMPTED,
    /** Removed from the scheduler. */
    FINISHED
}
