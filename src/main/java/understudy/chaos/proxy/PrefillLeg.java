package understudy.chaos.proxy;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import understudy.chaos.wire.HttpHead;
import understudy.chaos.wire.Wire;
import understudy.json.Jackson;

/**
 * First of the two calls that a pair of engines needs for an answer, as llm-d's routing sidecar makes it ({@code
 * connector_nixlv2.go}): one engine computes the prompt with a limit of one token, and what it says in {@code
 * kv_transfer_params} goes to the other engine. Any thread may use it.
 */
public final class PrefillLeg {
    private static final int CONNECT_MILLIS = 2000;
    private static final int MAX_BODY_BYTES = 1 << 24;
    private static final int POLL_MILLIS = 5;
    private static final String PARAMS = "kv_transfer_params";

    private final InetSocketAddress engine;
    private final AtomicReference<@Nullable CountDownLatch> hold = new AtomicReference<>();
    private volatile boolean isHeld;

    /** @param engine computes the prompts */
    public PrefillLeg(InetSocketAddress engine) {
        this.engine = engine;
    }

    /** Lets calls wait from now on when their prompts are computed, before the other engine is called. */
    public void hold() {
        hold.set(new CountDownLatch(1));
    }

    /** Returns whether a call waits. */
    public boolean isHeld() {
        return isHeld;
    }

    /** Lets calls go on. */
    public void release() {
        var latch = hold.getAndSet(null);
        isHeld = false;
        if (latch != null) {
            latch.countDown();
        }
    }

    /**
     * Has a prompt computed.
     *
     * @param body call of the gateway
     * @return the call for the other engine
     * @throws IOException if the engine fails
     */
    byte[] prefilled(HttpHead head, byte[] body, Wire.Waiting waiting) throws IOException {
        var call = Jackson.mapper().readTree(body);
        if (!(call instanceof ObjectNode decode)) {
            throw new IOException("the call is no JSON object");
        }
        decode.set(
                PARAMS,
                Jackson.mapper()
                        .readTree(answer(head, prefill(decode), waiting))
                        .path(PARAMS));
        var latch = hold.get();
        if (latch != null) {
            isHeld = true;
            await(latch, waiting);
        }
        return Jackson.mapper().writeValueAsBytes(decode);
    }

    private static byte[] prefill(ObjectNode call) throws JacksonException {
        var prefill = call.deepCopy().put("max_tokens", 1).put("stream", false);
        if (prefill.has("max_completion_tokens")) {
            prefill.put("max_completion_tokens", 1);
        }
        prefill.remove("stream_options");
        prefill.putObject(PARAMS).put("do_remote_decode", true).put("do_remote_prefill", false);
        return Jackson.mapper().writeValueAsBytes(prefill);
    }

    private byte[] answer(HttpHead head, byte[] body, Wire.Waiting waiting) throws IOException {
        try (var wire = Wire.connect(engine, CONNECT_MILLIS)) {
            wire.send(head.without("Transfer-Encoding")
                    .without("Expect")
                    .without("Accept-Encoding")
                    .with("Content-Length", String.valueOf(body.length))
                    .bytes());
            wire.send(body);
            var answer = HttpHead.read(wire, waiting);
            if (answer == null || answer.status() / 100 != 2) {
                throw new IOException("the engine does not compute the prompt");
            }
            return answer.readBody(wire, MAX_BODY_BYTES, waiting);
        }
    }

    private static void await(CountDownLatch latch, Wire.Waiting waiting) throws IOException {
        try {
            while (!latch.await(POLL_MILLIS, TimeUnit.MILLISECONDS)) {
                waiting.check();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }
}
