/** HTTP/1.1 over plain sockets, byte by byte, so that the kit can break it and see where it was broken. */
@NullMarked
package understudy.chaos.wire;

import org.jspecify.annotations.NullMarked;
