/**
 * A sweep over machines: a driver hands out the points, and workers run them. Read {@code Driver} first.
 *
 * <p>They are members of one Pekko cluster, of which the driver is the seed node. Work goes by Pekko's work pulling: what
 * a worker that is gone has not answered is given to another one. A result is sent until the driver has it, and counts
 * once.
 */
@NullMarked
package understudy.sweep.remote;

import org.jspecify.annotations.NullMarked;
