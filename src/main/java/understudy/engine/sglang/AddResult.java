package understudy.engine.sglang;

/** Whether the next waiting request is tried, too ({@code AddReqResult}). */
public enum AddResult {
    /** It is. */
    CONTINUE,
    /** It is not: tokens are short. */
    NO_TOKEN,
    /** It is not, for another reason. */
    OTHER
}
