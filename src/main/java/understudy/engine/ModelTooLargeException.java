package understudy.engine;

import understudy.settings.ScenarioException;

/** A model, or a sequence of it, for which the GPUs have too little memory. */
public final class ModelTooLargeException extends ScenarioException {
    private final String problem;

    /**
     * Takes the message apart.
     *
     * @param problem the part that does not fit, and the memory that is too small for it
     * @param remedy which settings help
     */
    public ModelTooLargeException(String problem, String remedy) {
        super(problem + "; " + remedy);
        this.problem = problem;
    }

    /** Returns the message without the settings that help. */
    public String problem() {
        return problem;
    }
}
