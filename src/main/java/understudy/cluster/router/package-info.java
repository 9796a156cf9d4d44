/** The router of a cluster: admission, choice of a replica, dispatch. Start with {@link understudy.cluster.Router}, its messages. */
@NullMarked
package understudy.cluster.router;

import org.jspecify.annotations.NullMarked;
