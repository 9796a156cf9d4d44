package understudy.transfer;

import it.unimi.dsi.fastutil.ints.IntList;

/**
 * Transfer of bytes over a link.
 *
 * @param id unlike that of any other transfer on the same link
 * @param ports indices of the ports that it crosses, at least one: such as the way out of one NIC and into another
 * @param bytes at least 0
 * @param numDescriptors how many pieces of memory the bytes are in, at least 0
 * @param pair number of the two endpoints; the first transfer of each number has the handshake, so an endpoint that
 *     starts anew has new numbers
 */
public record Transfer(long id, IntList ports, long bytes, int numDescriptors, long pair) {
    public Transfer {
        if (ports.isEmpty() || bytes < 0 || numDescriptors < 0) {
            throw new IllegalArgumentException("transfer " + id + " over ports " + ports + ", bytes " + bytes
                    + ", numDescriptors " + numDescriptors);
        }
    }
}
