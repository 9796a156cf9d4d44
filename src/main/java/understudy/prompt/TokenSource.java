package understudy.prompt;

/** Token ids by position. They may be computed rather than stored, so that 100,000 of them need not be held. */
public interface TokenSource {

    /**
     * Returns the token id at a position; equal calls give equal ids.
     *
     * @param index position, 0 or more
     */
    int tokenAt(int index);

    /** Copies {@code count} ids, from position {@code from} on, to the positions of {@code into} from {@code at} on. */
    default void copy(int from, int count, int[] into, int at) {
        for (int i = 0; i < count; i++) {
            into[at + i] = tokenAt(from + i);
        }
    }
}
