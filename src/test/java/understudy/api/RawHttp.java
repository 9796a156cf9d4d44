package understudy.api;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A client that sends what it is given, however wrong, and reads whatever comes until the server closes. */
final class RawHttp {
    private static final int PATIENCE_MILLIS = 30_000;
    private static final String END_OF_HEAD = "\r\n\r\n";

    private RawHttp() {}

    /**
     * An answer.
     *
     * @param head with all headers, in lower case
     * @param isWhole whether it has come to its end
     */
    record Answer(int status, String head, String body, boolean isWhole) {}

    /** Sends a request, and returns the answers; none if the client goes away. */
    static List<Answer> exchange(InetSocketAddress server, HostileRequest request) throws IOException {
        try (var socket = new Socket(server.getAddress(), server.getPort())) {
            socket.setSoTimeout(PATIENCE_MILLIS);
            send(socket, request.bytes().toArrayUnsafe());
            return request.numAnswers() == HostileRequest.ANY ? List.of() : answers(received(socket));
        }
    }

    /** A server that has seen enough may close before everything is sent. */
    private static void send(Socket socket, byte[] bytes) throws IOException {
        try {
            socket.getOutputStream().write(bytes);
            socket.getOutputStream().flush();
        } catch (SocketException e) {
            requireClosed(e);
        }
    }

    private static String received(Socket socket) throws IOException {
        var received = new StringBuilder();
        var buffer = new byte[1 << 16];
        try {
            var stream = socket.getInputStream();
            for (int count = stream.read(buffer); count >= 0; count = stream.read(buffer)) {
                received.append(new String(buffer, 0, count, StandardCharsets.ISO_8859_1));
            }
        } catch (SocketException e) {
            requireClosed(e);
        }
        return received.toString();
    }

    private static void requireClosed(SocketException e) throws SocketException {
        String message = String.valueOf(e.getMessage());
        if (!message.contains("reset") && !message.contains("Broken pipe")) {
            throw e;
        }
    }

    /** Takes answers apart; a response that only says that another one follows is none. */
    private static List<Answer> answers(String received) {
        var answers = new ArrayList<Answer>();
        int at = 0;
        while (at < received.length()) {
            int end = received.indexOf(END_OF_HEAD, at);
            if (end < 0) {
                throw new AssertionError("not an answer: " + received.substring(at));
            }
            String head = received.substring(at, end).toLowerCase(Locale.ROOT);
            int status = Integer.parseInt(head.substring("http/1.1 ".length(), "http/1.1 200".length()));
            int bodyAt = end + END_OF_HEAD.length();
            int bodyEnd = endOfBody(received, head, bodyAt);
            if (status >= 200) {
                boolean isWhole = bodyEnd >= 0;
                answers.add(new Answer(
                        status, head, received.substring(bodyAt, isWhole ? bodyEnd : received.length()), isWhole));
            }
            at = bodyEnd < 0 ? received.length() : bodyEnd;
        }
        return answers;
    }

    /** Returns where a body ends, or -1 if it does not. */
    private static int endOfBody(String received, String head, int bodyAt) {
        if (head.contains("\r\ntransfer-encoding: chunked")) {
            return endOfChunks(received, bodyAt);
        }
        int lengthAt = head.indexOf("\r\ncontent-length: ");
        if (lengthAt < 0) {
            return bodyAt;
        }
        String rest = head.substring(lengthAt + "\r\ncontent-length: ".length());
        int end = bodyAt + Integer.parseInt(rest.lines().findFirst().orElseThrow());
        return end <= received.length() ? end : -1;
    }

    private static int endOfChunks(String received, int bodyAt) {
        int at = bodyAt;
        while (true) {
            int endOfSize = received.indexOf("\r\n", at);
            if (endOfSize < 0) {
                return -1;
            }
            int size = Integer.parseInt(received.substring(at, endOfSize), 16);
            at = endOfSize + 2 + size + 2;
            if (at > received.length()) {
                return -1;
            }
            if (size == 0) {
                return at;
            }
        }
    }
}
