package understudy.api;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A Unix domain socket at which the HTTP server answers, too: each connection is carried to the server's port byte by byte,
 * both ways, by one thread for all of them.
 */
final class UnixSocket implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(UnixSocket.class);
    private static final int BUFFER_BYTES = 32 * 1024;
    private static final long JOIN_MILLIS = 1000;

    private final Path path;
    private final InetSocketAddress target;
    private final ServerSocketChannel listener;
    private final Selector selector;
    private final Thread thread;

    private UnixSocket(Path path, InetSocketAddress target, ServerSocketChannel listener, Selector selector)
            throws IOException {
        this.path = path;
        this.target = target;
        this.listener = listener;
        this.selector = selector;
        listener.configureBlocking(false);
        listener.register(selector, SelectionKey.OP_ACCEPT);
        thread = new Thread(this::run, "unix-socket");
        thread.setDaemon(true);
    }

    /**
     * Listens at a path, where a socket of a process that has ended may be.
     *
     * @param target address at which the server listens
     */
    static UnixSocket open(Path path, InetSocketAddress target) {
        try {
            removeStale(path);
            var listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
            try {
                listener.bind(UnixDomainSocketAddress.of(path));
                var socket = new UnixSocket(path, target, listener, Selector.open());
                socket.thread.start();
                return socket;
            } catch (IOException | RuntimeException e) {
                listener.close();
                throw e;
            }
        } catch (IOException e) {
            throw new UncheckedIOException(path + ": " + e.getMessage(), e);
        }
    }

    /**
     * Removes the socket of a process that has ended; a file of another kind, or a live socket, stays and fails the
     * bind.
     */
    private static void removeStale(Path path) throws IOException {
        if (!Files.exists(path) || Files.isRegularFile(path) || Files.isDirectory(path)) {
            return;
        }
        try (var other = SocketChannel.open(UnixDomainSocketAddress.of(path))) {
            LOG.debug("{} is in use: {}", path, other);
        } catch (IOException e) {
            Files.delete(path);
        }
    }

    private void run() {
        try {
            while (listener.isOpen()) {
                selector.select();
                var ready = selector.selectedKeys().iterator();
                while (ready.hasNext()) {
                    var key = ready.next();
                    ready.remove();
                    handle(key);
                }
            }
        } catch (ClosedSelectorException e) {
            LOG.debug("{} is closed", path);
        } catch (IOException e) {
            LOG.error("{} no longer listens", path, e);
        }
    }

    private void handle(SelectionKey key) throws IOException {
        if (!key.isValid()) {
            return;
        }
        if (key.attachment() instanceof Pipe pipe) {
            pipe.move();
        } else {
            accept();
        }
    }

    private void accept() throws IOException {
        var client = listener.accept();
        if (client == null) {
            return;
        }
        try {
            new Pair(client, SocketChannel.open(target)).start(selector);
        } catch (IOException e) {
            LOG.warn("{}: a connection was dropped: {}", path, e.toString());
            client.close();
        }
    }

    @Override
    public void close() {
        try {
            listener.close();
            selector.wakeup();
            thread.join(JOIN_MILLIS);
            for (var key : selector.keys()) {
                key.channel().close();
            }
            selector.close();
            Files.deleteIfExists(path);
        } catch (IOException e) {
            LOG.warn("{} cannot be closed: {}", path, e.toString());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** A client's connection, and the one to the server that it is carried to. */
    private static final class Pair {
        private final SocketChannel client;
        private final SocketChannel server;

        Pair(SocketChannel client, SocketChannel server) {
            this.client = client;
            this.server = server;
        }

        void start(Selector selector) throws IOException {
            client.configureBlocking(false);
            server.configureBlocking(false);
            var ofClient = client.register(selector, SelectionKey.OP_READ);
            var ofServer = server.register(selector, SelectionKey.OP_READ);
            var toServer = new Direction(ofClient, ofServer);
            var toClient = new Direction(ofServer, ofClient);
            ofClient.attach(new Pipe(this, toServer, toClient));
            ofServer.attach(new Pipe(this, toServer, toClient));
        }

        void close() {
            closeQuietly(client);
            closeQuietly(server);
        }

        private static void closeQuietly(SocketChannel channel) {
            try {
                channel.close();
            } catch (IOException e) {
                LOG.debug("a channel could not be closed", e);
            }
        }
    }

    /** Handler of a pair of connections, for when either side is ready. */
    private record Pipe(Pair pair, Direction toServer, Direction toClient) {
        void move() {
            try {
                toServer.move();
                toClient.move();
                if (toServer.isOver && toClient.isOver) {
                    pair.close();
                } else {
                    toServer.source.interestOps(toServer.readOps() | toClient.writeOps());
                    toClient.source.interestOps(toClient.readOps() | toServer.writeOps());
                }
            } catch (IOException e) {
                pair.close();
            }
        }
    }

    /** Bytes on their way from one channel to the other; the end of the one is passed on as the end of the other. */
    private static final class Direction {
        private final SelectionKey source;
        private final SelectionKey sink;
        private final ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES);
        private boolean hasEnded;
        private boolean isOver;

        Direction(SelectionKey source, SelectionKey sink) {
            this.source = source;
            this.sink = sink;
        }

        void move() throws IOException {
            if (!hasEnded && buffer.hasRemaining()) {
                hasEnded = ((SocketChannel) source.channel()).read(buffer) < 0;
            }
            var target = (SocketChannel) sink.channel();
            buffer.flip();
            if (!isOver) {
                target.write(buffer);
            }
            buffer.compact();
            if (hasEnded && buffer.position() == 0 && !isOver) {
                isOver = true;
                target.shutdownOutput();
            }
        }

        int readOps() {
            return !hasEnded && buffer.hasRemaining() ? SelectionKey.OP_READ : 0;
        }

        int writeOps() {
            return buffer.position() > 0 ? SelectionKey.OP_WRITE : 0;
        }
    }
}
