/**
 * Control of a served emulation: faults and the clock.
 *
 * <p>Start with {@link understudy.api.admin.AdminRoutes}.
 */
@NullMarked
package understudy.api.admin;

import org.jspecify.annotations.NullMarked;
