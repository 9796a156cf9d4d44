package understudy.fuzz;

import java.util.function.Supplier;

/** A law that does not hold. */
final class BrokenLawException extends RuntimeException {
    private final String law;

    BrokenLawException(String law, String details) {
        super(law + ": " + details);
        this.law = law;
    }

    /** Throws unless {@code holds}. */
    static void require(boolean holds, String law, Supplier<String> details) {
        if (!holds) {
            throw new BrokenLawException(law, details.get());
        }
    }

    /** Returns the name of the law, without the details of this case. */
    String law() {
        return law;
    }
}
