package understudy.chaos.load;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import understudy.chaos.evidence.ClientCall.Ending;
import understudy.chaos.fleet.FleetSettings;
import understudy.chaos.wire.HttpHead;
import understudy.chaos.wire.Wire;
import understudy.runtime.Stopwatch;

/** Calls before and after a scenario, which are no part of it. */
public final class WarmUp {
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(2);
    private static final int FIRST_ID = 900_000;
    private static final int NUM_WORDS = 8;

    private WarmUp() {}

    /**
     * Sends some short calls at the same time, each of a session of its own, and returns how many were answered.
     *
     * @param first number of the first one; calls with other numbers have other prompts
     */
    public static int numAnswered(URI gateway, int first, int count) {
        var senders = Executors.newFixedThreadPool(count);
        try {
            var answers = IntStream.range(first, first + count)
                    .mapToObj(number -> CompletableFuture.supplyAsync(() -> isAnswered(gateway, number), senders))
                    .toList();
            return (int) answers.stream().filter(CompletableFuture::join).count();
        } finally {
            senders.shutdown();
        }
    }

    private static boolean isAnswered(URI gateway, int number) {
        var plan = CallPlanBuilder.builder()
                .id("call-" + (FIRST_ID + number))
                .session("warm-up" + number)
                .tenant("warm-up")
                .model(FleetSettings.MODEL)
                .isStreamed(number % 2 == 0)
                .numPrefixWords(NUM_WORDS)
                .numWords(NUM_WORDS)
                .build();
        return new Caller(gateway, Stopwatch.start(), plan, PATIENCE_NANOS)
                        .call()
                        .ending()
                == Ending.COMPLETED;
    }

    /** Returns whether the gateway answers HTTP, with whatever status. */
    public static boolean isAlive(URI gateway) {
        var waiting = Stopwatch.start();
        try (var wire = Wire.connect(new InetSocketAddress(gateway.getHost(), gateway.getPort()), (int)
                TimeUnit.NANOSECONDS.toMillis(PATIENCE_NANOS))) {
            String request = "GET /health HTTP/1.1\r\nHost: " + gateway.getAuthority() + "\r\n\r\n";
            wire.send(request.getBytes(StandardCharsets.US_ASCII));
            return HttpHead.read(wire, () -> {
                        if (waiting.nanos() > PATIENCE_NANOS) {
                            throw new IOException("no answer");
                        }
                    })
                    != null;
        } catch (IOException e) {
            return false;
        }
    }
}
