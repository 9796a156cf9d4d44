package understudy.sweep.remote;

import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import understudy.sweep.SweepJob;

/**
 * Job that a driver hands out: the build and input digests that a worker must match, and the log for the user.
 *
 * @param secret signs the job, and the results
 * @param sweep name of this process's sweep, unlike that of any other one
 * @param build of this program; a worker has the same
 * @param inputs digests of the files that the runs read, by name; a worker has the same
 * @param log takes a line for the user
 * @param numWorkers workers that take part right now
 */
record Offer(
        SweepJob job,
        Secret secret,
        String sweep,
        String build,
        Map<String, String> inputs,
        Consumer<String> log,
        AtomicInteger numWorkers) {}
