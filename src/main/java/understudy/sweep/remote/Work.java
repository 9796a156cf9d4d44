package understudy.sweep.remote;

/**
 * A run, as it is given to a worker.
 *
 * @param name of its point
 * @param settings the whole scenario, so that the worker needs no file of it
 */
record Work(String name, String settings) implements RemoteMessage {}
