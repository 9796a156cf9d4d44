package understudy.api;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Opens many connections to a server on this machine, and counts those that answer again after all the others have come:
 * {@code IdleConnections PORT CONNECTIONS}. By hand, after {@code mvn test-compile}, against {@code understudy serve}: one
 * process with both ends would need two file descriptors for each.
 */
public final class IdleConnections {
    private static final byte[] REQUEST = "GET /ping HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

    private IdleConnections() {}

    /** Takes the server's port and the number of connections. */
    public static void main(String[] args) throws IOException {
        int port = Integer.parseInt(args[0]);
        int wanted = Integer.parseInt(args[1]);
        List<Socket> sockets = new ArrayList<>();
        try {
            for (int i = 0; i < wanted; i++) {
                sockets.add(new Socket(InetAddress.getLoopbackAddress(), port));
                requireAnswer(sockets.get(i));
            }
            for (var socket : sockets) {
                requireAnswer(socket);
            }
            System.out.println(sockets.size() + " connections: all have answered twice");
        } finally {
            for (var socket : sockets) {
                socket.close();
            }
        }
    }

    private static void requireAnswer(Socket socket) throws IOException {
        socket.setSoTimeout(10_000);
        socket.getOutputStream().write(REQUEST);
        var answer = new byte[4096];
        int length = socket.getInputStream().read(answer);
        if (length < 0 || !new String(answer, 0, length, StandardCharsets.US_ASCII).startsWith("HTTP/1.1 200")) {
            throw new IOException("a connection has not been answered");
        }
    }
}
