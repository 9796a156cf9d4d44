package understudy.routing;

/** Signal of the replicas that a router may want; unwanted signals are not sent. */
public enum Signal {
    /** Changes of the prefix-hash tables. */
    KV_EVENTS,
    /** Which requests have got their first token, and which have ended: what a proxy sees of the answers it forwards. */
    PROGRESS,
    /** Queues and memory, every so often; see {@link LoadReport}. */
    LOAD_REPORTS,
    /** Load reports as soon as anything has changed, and nothing late or lost, whatever the {@link Wire}: what no router has. */
    EXACT
}
