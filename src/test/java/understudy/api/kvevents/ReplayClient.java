package understudy.api.kvevents;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.zeromq.SocketType;
import org.zeromq.ZContext;

/** Asks a replica's ROUTER socket for missed batches. */
final class ReplayClient {
    private static final int TIMEOUT_MILLIS = 10_000;

    private ReplayClient() {}

    /** One message of an answer. */
    static final class Message {
        final String topic;
        final long sequence;
        final byte[] payload;

        Message(String topic, long sequence, byte[] payload) {
            this.topic = topic;
            this.sequence = sequence;
            this.payload = payload;
        }
    }

    /** Returns the answer, the mark at its end included. */
    static List<Message> ask(String endpoint, long start) {
        var answer = new ArrayList<Message>();
        try (var context = new ZContext()) {
            var dealer = context.createSocket(SocketType.DEALER);
            dealer.setReceiveTimeOut(TIMEOUT_MILLIS);
            dealer.setHandshakeIvl(KvEventSockets.HANDSHAKE_MILLIS);
            dealer.setIPv6(endpoint.contains("["));
            dealer.connect(endpoint);
            dealer.sendMore(new byte[0]);
            dealer.send(ByteBuffer.allocate(Long.BYTES).putLong(start).array());
            for (byte[] empty = dealer.recv(); empty != null; empty = dealer.recv()) {
                var message = new Message(
                        dealer.recvStr(), ByteBuffer.wrap(dealer.recv()).getLong(), dealer.recv());
                answer.add(message);
                if (message.sequence < 0) {
                    return answer;
                }
            }
        }
        throw new AssertionError(endpoint + " does not answer");
    }
}
