package understudy.chaos.gateway.reference;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import understudy.chaos.gateway.GatewayUnderTest.Backend;

/** Replica whose probes are well, and which answers each call as a test says. */
final class ScriptedReplica implements AutoCloseable {
    /** Bytes that a call is answered with. */
    interface Script {
        void answer(Call call) throws IOException;
    }

    /** One call: what is written goes out at once. */
    record Call(Socket socket, OutputStream out) {
        Call write(String text) throws IOException {
            out.write(text.getBytes(StandardCharsets.UTF_8));
            out.flush();
            return this;
        }

        /** Begins a stream of chunks. */
        Call stream() throws IOException {
            return write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
        }

        Call event(String data) throws IOException {
            String event = "data: " + data + "\n\n";
            return write(Integer.toHexString(event.length()) + "\r\n" + event + "\r\n");
        }

        /** Waits until what was written has been read, before the connection breaks. */
        void pause() {
            try {
                TimeUnit.MILLISECONDS.sleep(300);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        void end() throws IOException {
            write("0\r\n\r\n");
        }

        /** Returns when the other side has closed the connection. */
        void awaitClosed() throws IOException {
            try {
                while (socket.getInputStream().read() >= 0) {
                    // Nothing else is expected.
                }
            } catch (SocketException e) {
                // Closed by a reset.
            }
        }
    }

    final AtomicInteger numCalls = new AtomicInteger();
    final CountDownLatch wasLeft = new CountDownLatch(1);
    private final ServerSocket server;
    private final List<Socket> sockets = new ArrayList<>();
    private volatile Script script;

    ScriptedReplica(Script script) {
        this.script = script;
        try {
            server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        new Thread(this::accept).start();
    }

    void answersWith(Script next) {
        script = next;
    }

    Backend backend(String name) {
        return new Backend(name, URI.create("http://127.0.0.1:" + server.getLocalPort()), null);
    }

    private void accept() {
        try {
            while (true) {
                var socket = server.accept();
                synchronized (sockets) {
                    sockets.add(socket);
                }
                new Thread(() -> serve(socket)).start();
            }
        } catch (IOException e) {
            // The replica is closed.
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            var in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
            var call = new Call(socket, socket.getOutputStream());
            String first = in.readLine();
            int length = 0;
            for (String line = in.readLine(); line != null && !line.isEmpty(); line = in.readLine()) {
                if (line.regionMatches(true, 0, "Content-Length:", 0, 15)) {
                    length = Integer.parseInt(line.substring(15).strip());
                }
            }
            for (int i = 0; i < length; i++) {
                in.read();
            }
            if (first != null && first.startsWith("GET /health")) {
                call.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
            } else if (first != null) {
                numCalls.incrementAndGet();
                script.answer(call);
            }
        } catch (IOException e) {
            // The other side has gone.
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
        synchronized (sockets) {
            for (var socket : sockets) {
                socket.close();
            }
        }
    }
}
