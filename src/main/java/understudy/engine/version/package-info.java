/**
 * Engines by version: the changes of each, as a data file lists them, and the profile that they add up to.
 *
 * <p>Start with {@link understudy.engine.version.EngineVersions}.
 */
@NullMarked
package understudy.engine.version;

import org.jspecify.annotations.NullMarked;
