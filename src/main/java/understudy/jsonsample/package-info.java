/**
 * Random samples of JSON schemas and regular expressions, for structured outputs and tool calls.
 *
 * <p>Start with {@link understudy.jsonsample.SchemaSample}.
 */
@NullMarked
package understudy.jsonsample;

import org.jspecify.annotations.NullMarked;
