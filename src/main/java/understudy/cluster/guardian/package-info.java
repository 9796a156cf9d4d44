/**
 * The guardian of a cluster: starts its actors, changes its replicas, and collects the records of a run. Start with
 * {@link understudy.cluster.Cluster}, its messages.
 */
@NullMarked
package understudy.cluster.guardian;

import org.jspecify.annotations.NullMarked;
