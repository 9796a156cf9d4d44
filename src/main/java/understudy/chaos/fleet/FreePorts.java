package understudy.chaos.fleet;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Ports of 127.0.0.1 below those from which systems take the ports of outgoing connections (Linux from 32768, others from
 * 49152). A port of the kit is closed while its replica is dead, and no connection must take it meanwhile.
 */
public final class FreePorts {
    private static final int FIRST = 20_000;
    private static final int COUNT = 10_000;

    /** Kits that run at the same time begin at places of their own. */
    private static final AtomicInteger NEXT =
            new AtomicInteger((int) (ProcessHandle.current().pid() * 97 % COUNT));

    private FreePorts() {}

    /**
     * Returns a port that is free, and that no earlier call has returned unless all were tried.
     *
     * @throws IOException if none is free
     */
    public static int next() throws IOException {
        for (int i = 0; i < COUNT; i++) {
            int port = FIRST + Math.floorMod(NEXT.getAndIncrement(), COUNT);
            if (isFree(port)) {
                return port;
            }
        }
        throw new IOException("no port from " + FIRST + " to " + (FIRST + COUNT - 1) + " is free");
    }

    private static boolean isFree(int port) throws IOException {
        try (var socket = new ServerSocket()) {
            socket.bind(new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), port));
            return true;
        } catch (BindException e) {
            return false;
        }
    }
}
