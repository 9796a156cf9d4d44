/**
 * Benchmarks of the whole program, in processes of their own.
 *
 * <p>Start with {@link understudy.bench.BenchTable}.
 */
@NullMarked
package understudy.bench;

import org.jspecify.annotations.NullMarked;
