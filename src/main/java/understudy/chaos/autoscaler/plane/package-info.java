/** What an autoscaler sees of a cluster: the scale subresource, the list of replicas, and their metrics. */
@NullMarked
package understudy.chaos.autoscaler.plane;

import org.jspecify.annotations.NullMarked;
