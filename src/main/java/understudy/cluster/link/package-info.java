/**
 * The actor that owns a medium: {@link understudy.cluster.link.Link}.
 *
 * <pre>{@code
 *  Replica, KvTier --Start--> Link --Ended--> sender of Start
 * }</pre>
 */
@NullMarked
package understudy.cluster.link;

import org.jspecify.annotations.NullMarked;
