/**
 * Speculative decoding: the number of drafts, the tokens reserved for them, and how many are accepted.
 *
 * <p>Start with {@link understudy.engine.speculation.SpeculationConfig}.
 */
@NullMarked
package understudy.engine.speculation;

import org.jspecify.annotations.NullMarked;
