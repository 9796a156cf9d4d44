/**
 * Speculative decoding: how many drafts there are, what is reserved for them, and what has become of them.
 *
 * <p>Start with {@link understudy.engine.speculation.SpeculationConfig}.
 */
@NullMarked
package understudy.engine.speculation;

import org.jspecify.annotations.NullMarked;
