package understudy.latency.tables;

import java.nio.file.Path;

/**
 * File of a table.
 *
 * @param engine folder of the engine whose kernels were measured
 * @param version of that engine
 */
record TableFile(String engine, String version, Path path) {}
