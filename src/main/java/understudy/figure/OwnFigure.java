package understudy.figure;

/**
 * Figure of a family, named once: by its key for programs, and by its title for people.
 *
 * @param key words in lower case, with underscores
 * @param amount the figure, or the sum of all values of a share or a mean
 * @param of what a share or a mean is of; else nothing reads it
 */
public record OwnFigure(String key, String title, Kind kind, double amount, double of) {

    /** How a figure reads, and how it adds up over steps and replicas. */
    public enum Kind {
        /** Sum. */
        COUNT,
        /** Sum of tokens. */
        TOKENS,
        /** Part of a whole, both of which add up. */
        SHARE,
        /** Mean of all values. */
        MEAN,
        /** Largest value. */
        LARGEST
    }

    /** Returns a count. */
    public static OwnFigure count(String key, String title, long count) {
        return new OwnFigure(key, title, Kind.COUNT, count, 1);
    }

    /** Returns a number of tokens. */
    public static OwnFigure tokens(String key, String title, long count) {
        return new OwnFigure(key, title, Kind.TOKENS, count, 1);
    }

    /** Returns a share, from 0 to 1; nothing of nothing is 0. */
    public static OwnFigure share(String key, String title, long part, long whole) {
        return new OwnFigure(key, title, Kind.SHARE, part, whole);
    }

    /** Returns the mean of so many values. */
    public static OwnFigure mean(String key, String title, double sum, long count) {
        return new OwnFigure(key, title, Kind.MEAN, sum, count);
    }

    /** Returns a count of which only the largest is of interest. */
    public static OwnFigure largest(String key, String title, long count) {
        return new OwnFigure(key, title, Kind.LARGEST, count, 1);
    }

    /** Returns the figure as one number. */
    public double value() {
        return switch (kind) {
            case COUNT, TOKENS, LARGEST -> amount;
            case SHARE, MEAN -> of == 0 ? 0 : amount / of;
        };
    }

    /** Returns whether the number is whole. */
    public boolean isWhole() {
        return kind != Kind.SHARE && kind != Kind.MEAN;
    }

    /** Returns the same figure of two parts together. */
    OwnFigure plus(OwnFigure other) {
        return kind == Kind.LARGEST
                ? new OwnFigure(key, title, kind, Math.max(amount, other.amount), 1)
                : new OwnFigure(key, title, kind, amount + other.amount, of + other.of);
    }
}
