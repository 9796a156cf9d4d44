package understudy.engine;

/** The settings of one kind of engine, and the way to its planner. */
public interface PlannerConfig {

    /** Creates a planner without requests. */
    Planner createPlanner();

    /** Returns the most requests that one step serves, at least 1. */
    int maxNumSeqs();

    /** Returns the most tokens that one step computes, at least 1. */
    int maxNumBatchedTokens();

    /** Returns the longest sequence in tokens, prompt and output together, at least 2. */
    int maxModelLen();

    /** Returns how many planned steps may be without a result at a time, at least 1. */
    int maxStepsInFlight();
}
