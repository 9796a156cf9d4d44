package understudy.fuzz;

/**
 * A scenario that has failed, made smaller.
 *
 * @param smallest the smallest scenario found that fails in the same way
 * @param failure failure that it ends with
 * @param numTries smaller scenarios that were tried
 */
public record Finding(FuzzScenario smallest, Failure failure, int numTries) {}
