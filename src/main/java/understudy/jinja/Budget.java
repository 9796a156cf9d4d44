package understudy.jinja;

import understudy.jinja.python.JinjaException;

/**
 * Bound on what a template does for one prompt, so that none runs on for ever or fills the memory: each statement, each item
 * of a loop and each character that is made costs one.
 */
final class Budget {
    private static final long BASE = 1L << 26;
    private static final long PER_INPUT_CHAR = 64;
    private static final int MOST_CALLS = 100;

    private long left;
    private int numCalls;

    Budget(long numInputChars) {
        left = BASE + PER_INPUT_CHAR * numInputChars;
    }

    void charge(long cost) {
        left -= cost;
        if (left < 0) {
            throw new JinjaException("the chat template does too much for one prompt");
        }
    }

    /** Charges for a value that was just made, and returns it. */
    Object charged(Object value) {
        if (value instanceof String text) {
            charge(text.length());
        } else if (value instanceof java.util.List<?> list) {
            charge(list.size());
        }
        return value;
    }

    void enterCall() {
        if (++numCalls > MOST_CALLS) {
            throw new JinjaException("maximum recursion depth exceeded");
        }
    }

    void leaveCall() {
        numCalls--;
    }
}
