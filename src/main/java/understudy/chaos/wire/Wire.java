package understudy.chaos.wire;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A connection of which each read has an end: while it waits, it asks a {@link Waiting} again and again whether it may
 * go on. Used by one thread, but for {@link #close} and {@link #reset}.
 */
public final class Wire implements AutoCloseable {
    /** How often a reader that waits asks whether it may go on. */
    private static final int POLL_MILLIS = 20;

    private static final int BUFFER_BYTES = 16384;
    private static final int MAX_LINE_BYTES = 65536;

    private final Socket socket;
    private final Socket transport;
    private final BufferedInputStream in;
    private final OutputStream out;

    /** Says whether a read may wait on. */
    @FunctionalInterface
    public interface Waiting {
        /** Throws if there is no sense in waiting any longer. */
        void check() throws IOException;
    }

    /** Wraps a connection. */
    public Wire(Socket socket) throws IOException {
        this(socket, socket);
    }

    /**
     * Wraps a connection that goes through another one, as TLS does.
     *
     * @param transport carries it, and is what a reset ends
     */
    public Wire(Socket socket, Socket transport) throws IOException {
        this.socket = socket;
        this.transport = transport;
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(POLL_MILLIS);
        in = new BufferedInputStream(socket.getInputStream(), BUFFER_BYTES);
        out = socket.getOutputStream();
    }

    /** Connects to an address within a limit. */
    @SuppressWarnings("resource") // the wire closes it
    public static Wire connect(InetSocketAddress address, int limitMillis) throws IOException {
        var socket = new Socket();
        try {
            socket.connect(address, limitMillis);
            return new Wire(socket);
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    /** Sends bytes at once. */
    public void send(byte[] bytes) throws IOException {
        out.write(bytes);
        out.flush();
    }

    /** Returns the next byte, or -1 at the end. */
    public int read(Waiting waiting) throws IOException {
        while (true) {
            try {
                return in.read();
            } catch (SocketTimeoutException e) {
                waiting.check();
            }
        }
    }

    /** Returns the next bytes that are there, at most so many; none at the end. */
    public byte[] readSome(int most, Waiting waiting) throws IOException {
        var bytes = new byte[Math.min(most, BUFFER_BYTES)];
        while (true) {
            try {
                int count = in.read(bytes);
                return count < 0 ? new byte[0] : Arrays.copyOf(bytes, count);
            } catch (SocketTimeoutException e) {
                waiting.check();
            }
        }
    }

    /**
     * Returns exactly so many bytes.
     *
     * @throws EOFException if the other side ends before
     */
    public byte[] readFully(int count, Waiting waiting) throws IOException {
        var all = new ByteArrayOutputStream(count);
        while (all.size() < count) {
            var some = readSome(count - all.size(), waiting);
            if (some.length == 0) {
                throw new EOFException("ended after " + all.size() + " of " + count + " bytes");
            }
            all.write(some);
        }
        return all.toByteArray();
    }

    /**
     * Returns the next line without its end.
     *
     * @throws EOFException if the other side ends before the line does
     */
    public String readLine(Waiting waiting) throws IOException {
        var line = new ByteArrayOutputStream();
        while (true) {
            int next = read(waiting);
            if (next < 0) {
                throw new EOFException("ended within a line");
            }
            if (next == '\n') {
                String text = line.toString(StandardCharsets.ISO_8859_1);
                return text.endsWith("\r") ? text.substring(0, text.length() - 1) : text;
            }
            line.write(next);
            if (line.size() > MAX_LINE_BYTES) {
                throw new IOException("a line of more than " + MAX_LINE_BYTES + " bytes");
            }
        }
    }

    /** Returns whether the other side has closed the connection, or reset it; what it has sent stays to be read. */
    public boolean isLeft() {
        try {
            if (in.available() > 0) {
                return false;
            }
            socket.setSoTimeout(1);
            in.mark(1);
            boolean isLeft = in.read() < 0;
            in.reset();
            return isLeft;
        } catch (SocketTimeoutException e) {
            return false;
        } catch (IOException e) {
            return true;
        } finally {
            restoreTimeout();
        }
    }

    private void restoreTimeout() {
        try {
            socket.setSoTimeout(POLL_MILLIS);
        } catch (IOException e) {
            // It is closed, which the next read says.
        }
    }

    /** Resets the connection: the other side loses even what it has not read yet. */
    public void reset() {
        try {
            transport.setSoLinger(true, 0);
        } catch (IOException e) {
            // It is closed already.
        }
        close(transport);
    }

    @Override
    public void close() {
        close(socket);
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // There is nothing left to close.
        }
    }
}
