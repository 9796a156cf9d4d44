/** The kit's proxy in front of each replica: it records what a gateway sends, and breaks what comes back. */
@NullMarked
package understudy.chaos.proxy;

import org.jspecify.annotations.NullMarked;
