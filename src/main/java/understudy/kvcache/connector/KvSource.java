package understudy.kvcache.connector;

/** Memory from which a replica can get the KV of a prompt, besides its own GPU. */
public enum KvSource {
    /** Host memory of the same replica. */
    HOST("host"),
    /** Disk of the same replica. */
    DISK("disk"),
    /** Store that all replicas have together; vLLM tells such ones not apart. */
    STORE("external_unspecified"),
    /** Memory of another replica. */
    PEER("p2p");

    private final String label;

    KvSource(String label) {
        this.label = label;
    }

    /** Returns its name in metrics and reports (vLLM's label {@code source}). */
    public String label() {
        return label;
    }
}
