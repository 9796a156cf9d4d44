package understudy.jsonsample;

/** Failure to find a value for a schema in one draw; other draws may find one. */
final class NoSampleException extends RuntimeException {

    /**
     * Creates an exception.
     *
     * @param keyword keyword of the schema that could not be satisfied
     * @param reason why, as the end of a sentence, or an empty text
     */
    NoSampleException(String keyword, String reason) {
        super("`" + keyword + "` cannot be satisfied" + (reason.isEmpty() ? "" : ": " + reason), null, false, false);
    }
}
