package understudy.api;

import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A client for many streams at a time that costs little: one thread, no parsing but a search for events. Requests are sent
 * when they are due.
 */
public final class StreamClient {
    private static final byte[] DATA = "data: ".getBytes(StandardCharsets.US_ASCII);

    private final InetSocketAddress server;
    private final ByteBuffer buffer = ByteBuffer.allocate(1 << 14);
    private int numOpen;

    /** Creates a client of a server. */
    public StreamClient(InetSocketAddress server) {
        this.server = server;
    }

    /** A stream: what was sent and when, and when each event came, in nanoseconds since the start of the client. */
    public static final class Stream {
        private final byte[] request;
        /** When the request is due. */
        public final long dueNanos;
        /** When it was sent. */
        public long sentNanos;
        /** When the events came; several that came in one read have the same time. */
        public final LongArrayList eventNanos = new LongArrayList();
        /** Whether it ended as it should. */
        public boolean isDone;

        private int numMatched;

        /** Creates a stream of completions. */
        public Stream(String body, long dueNanos) {
            this.dueNanos = dueNanos;
            request = ("POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "
                            + body.length() + "\r\n\r\n" + body)
                    .getBytes(StandardCharsets.US_ASCII);
        }

        /** What follows {@code "data: "} tells an event from the end. */
        private void read(byte[] bytes, int count, long atNanos) {
            int matched = numMatched;
            for (int i = 0; i < count; i++) {
                byte next = bytes[i];
                if (matched == DATA.length) {
                    if (next == '{') {
                        eventNanos.add(atNanos);
                    } else {
                        isDone |= next == '[';
                    }
                    matched = 0;
                } else {
                    matched = next == DATA[matched] ? matched + 1 : next == DATA[0] ? 1 : 0;
                }
            }
            numMatched = matched;
        }
    }

    /** Sends all streams, in order of their times, and returns when all have ended or the time is over. */
    public void run(List<Stream> streams, long limitNanos) throws IOException {
        long start = System.nanoTime();
        var waiting = new ArrayList<>(streams);
        int next = 0;
        try (var selector = Selector.open()) {
            while ((next < waiting.size() || numOpen > 0) && System.nanoTime() - start < limitNanos) {
                long now = System.nanoTime() - start;
                while (next < waiting.size() && waiting.get(next).dueNanos <= now) {
                    open(selector, waiting.get(next++), now);
                }
                long untilNext = next < waiting.size() ? waiting.get(next).dueNanos - now : 100_000_000;
                selector.select(Math.max(1, Math.min(100, untilNext / 1_000_000)));
                for (var key : selector.selectedKeys()) {
                    read(key, System.nanoTime() - start);
                }
                selector.selectedKeys().clear();
            }
        }
    }

    private void open(Selector selector, Stream stream, long now) throws IOException {
        var channel = SocketChannel.open(server);
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        stream.sentNanos = now;
        channel.write(ByteBuffer.wrap(stream.request));
        channel.configureBlocking(false);
        channel.register(selector, SelectionKey.OP_READ, stream);
        numOpen++;
    }

    private void read(SelectionKey key, long now) throws IOException {
        var stream = (Stream) key.attachment();
        buffer.clear();
        int count = ((SocketChannel) key.channel()).read(buffer);
        stream.read(buffer.array(), Math.max(0, count), now);
        if (count < 0 || stream.isDone) {
            key.channel().close();
            numOpen--;
        }
    }
}
