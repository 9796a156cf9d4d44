/**
 * Random samples of JSON schemas and regular expressions, for structured outputs and tool calls.
 *
 * <p>Start with {@link understudy.api.schema.SchemaSample}.
 */
@NullMarked
package understudy.api.schema;

import org.jspecify.annotations.NullMarked;
