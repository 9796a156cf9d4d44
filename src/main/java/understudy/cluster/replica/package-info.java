/** Replicas: requests and the steps they run in. Start with {@link understudy.cluster.Replica}, its messages. */
@NullMarked
package understudy.cluster.replica;

import org.jspecify.annotations.NullMarked;
