package understudy.sweep.remote;

/**
 * A run, as it is given to a worker.
 *
 * @param sweep that it belongs to
 * @param name of its point
 * @param settings the whole scenario, so that the worker needs no file of it; JSON
 * @param signature by the secret of the sweep
 */
record Work(String sweep, String name, String settings, String signature) implements RemoteMessage {}
