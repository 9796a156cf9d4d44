/** Orders that replicas carry out, and what becomes of them. */
@NullMarked
package understudy.cluster.orders;

import org.jspecify.annotations.NullMarked;
