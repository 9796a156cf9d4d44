/** Devices that execute the steps of replicas. Start with {@link understudy.cluster.VirtualGpu}, their messages. */
@NullMarked
package understudy.cluster.device;

import org.jspecify.annotations.NullMarked;
