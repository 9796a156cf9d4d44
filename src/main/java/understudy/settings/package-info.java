/**
 * Settings: which keys there are, how a value is read, and what is said of one that cannot be used.
 *
 * <p>Start with {@link understudy.settings.Section}.
 */
@NullMarked
package understudy.settings;

import org.jspecify.annotations.NullMarked;
