package understudy.api.model;

/** Where answers come from. */
public enum AnswerMode {
    /** Synthetic text of random length. */
    RANDOM,
    /** The question, word for word. */
    ECHO,
    /** A file. */
    REPLAY
}
