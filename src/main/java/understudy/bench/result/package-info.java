/**
 * Results of a load client: records of requests, statistics, and the outputs of {@code vllm bench serve}.
 *
 * <p>Start with {@link understudy.bench.result.BenchResult}.
 */
@NullMarked
package understudy.bench.result;

import org.jspecify.annotations.NullMarked;
