package understudy.api.call;

/** Behaviour of the own port of a replica that has crashed or starts again. */
public enum DownReplicas {
    /** Connections are refused: the process is not there. */
    REFUSE,
    /** {@code /health} answers 503, as vLLM's API server does when its engine has died. */
    UNHEALTHY
}
