package understudy.fuzz;

import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * Failure of a scenario.
 *
 * @param kind the law that was broken, or the exception and the method that threw it; equal for failures with one cause
 * @param message all that is known
 */
public record Failure(String kind, String message) {
    private static final String OWN_PACKAGE = "understudy.";
    private static final int MAX_FRAMES = 12;

    static Failure of(RuntimeException thrown) {
        if (thrown instanceof BrokenLawException broken) {
            return new Failure(broken.law(), String.valueOf(broken.getMessage()));
        }
        var root = root(thrown);
        String place = Arrays.stream(root.getStackTrace())
                .filter(frame -> frame.getClassName().startsWith(OWN_PACKAGE))
                .findFirst()
                .map(frame -> " in " + frame.getClassName() + "." + frame.getMethodName())
                .orElse("");
        return new Failure(root.getClass().getSimpleName() + place, root + frames(root));
    }

    private static Throwable root(Throwable thrown) {
        var cause = thrown.getCause();
        return cause == null ? thrown : root(cause);
    }

    /** Returns where it was thrown; the search itself is not part of that. */
    private static String frames(Throwable thrown) {
        return Arrays.stream(thrown.getStackTrace())
                .takeWhile(frame -> !frame.getClassName().equals(Fuzzer.class.getName()))
                .limit(MAX_FRAMES)
                .map(frame -> "\n    at " + frame)
                .collect(Collectors.joining());
    }
}
