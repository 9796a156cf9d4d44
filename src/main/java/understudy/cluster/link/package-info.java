/**
 * The actor that owns a medium: {@link understudy.cluster.link.Link}.
 *
 * <pre>{@code
 *  Replica, KvTier --Start--> Link --Ended--> whoever asked
 * }</pre>
 */
@NullMarked
package understudy.cluster.link;

import org.jspecify.annotations.NullMarked;
