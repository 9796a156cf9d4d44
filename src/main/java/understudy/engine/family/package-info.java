/**
 * List of the families of engines, apart from their contract, which does not know them.
 *
 * <p>Start with {@link understudy.engine.family.EngineFamilies}.
 */
@NullMarked
package understudy.engine.family;

import org.jspecify.annotations.NullMarked;
