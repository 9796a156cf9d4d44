/**
 * The live page: a view of the cluster that follows its events, and the feed that browsers read.
 *
 * <p>Start with {@link understudy.api.live.LiveView}.
 */
@NullMarked
package understudy.api.live;

import org.jspecify.annotations.NullMarked;
