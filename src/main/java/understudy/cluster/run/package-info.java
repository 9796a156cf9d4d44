/** Actors that a run adds to a cluster: its load, the log of its figures, and what decides on its size. */
@NullMarked
package understudy.cluster.run;

import org.jspecify.annotations.NullMarked;
