package understudy.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.ConnectException;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.channels.UnresolvedAddressException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;
import understudy.json.Jackson;
import understudy.runtime.Stopwatch;
import understudy.settings.Numbers;

/** One attempt to get an answer: reads the stream, or the error that comes instead of it. */
final class Attempt implements HttpResponse.BodySubscriber<LiveAnswer> {
    private static final ObjectMapper JSON = Jackson.mapper();
    private static final int OK = 200;
    private static final int TOO_MANY_REQUESTS = 429;
    private static final int UNAVAILABLE = 503;

    private final Stopwatch watch;
    private final int maxChunks;
    private final LiveAnswer answer = new LiveAnswer();
    private final StringBuilder errorBody = new StringBuilder();
    private final CompletableFuture<LiveAnswer> whenEnded = new CompletableFuture<>();
    private final EventLines lines = new EventLines(this::onData);
    private HttpResponse.@Nullable ResponseInfo head;
    private Flow.@Nullable Subscription subscription;
    private long readNanos;
    private boolean hasFailedToConnect;

    /**
     * Creates an attempt.
     *
     * @param maxChunks chunks after which the client gives it up
     */
    Attempt(Stopwatch watch, int maxChunks) {
        this.watch = watch;
        this.maxChunks = maxChunks;
    }

    /** Returns this, as the one that reads the body behind a head. */
    HttpResponse.BodySubscriber<LiveAnswer> behind(HttpResponse.ResponseInfo info) {
        head = info;
        return this;
    }

    /** Records that there was no answer, or only a part of it. */
    synchronized LiveAnswer onFailure(Throwable failure) {
        hasFailedToConnect = head == null;
        answer.fail(words(failure));
        return answer;
    }

    /** Returns the words of a failure; some exceptions of the network have none. */
    static String words(Throwable failure) {
        Throwable cause = failure;
        while (cause.getCause() != null && !(cause instanceof IOException)) {
            cause = cause.getCause();
        }
        if (cause instanceof ConnectException && cause.getMessage() == null) {
            return isUnresolved(cause) ? "the name of the host is not known" : "connection refused";
        }
        String message = cause.getMessage();
        return cause.getClass().getSimpleName() + (message == null ? "" : ": " + message);
    }

    private static boolean isUnresolved(Throwable failure) {
        var cause = failure.getCause();
        return failure instanceof UnresolvedAddressException || (cause != null && isUnresolved(cause));
    }

    /** Returns whether another attempt may go better: nothing of an answer has come, and it is not the request's fault. */
    synchronized boolean mayBeRetried() {
        int status = head == null ? 0 : head.statusCode();
        return answer.chunkNanos().isEmpty()
                && (hasFailedToConnect || status == TOO_MANY_REQUESTS || status == UNAVAILABLE);
    }

    /** Returns after how many seconds the server wants the request again; empty if it does not say so in seconds. */
    synchronized OptionalLong retryAfterSeconds() {
        return head == null
                ? OptionalLong.empty()
                : Numbers.parseWhole(head.headers().firstValue("Retry-After").orElse(""));
    }

    /** Takes no more of the answer, and returns the part that has come. */
    synchronized LiveAnswer abort() {
        answer.abort();
        if (subscription != null) {
            subscription.cancel();
        }
        whenEnded.complete(answer);
        return answer;
    }

    @Override
    public CompletionStage<LiveAnswer> getBody() {
        return whenEnded;
    }

    @Override
    public synchronized void onSubscribe(Flow.Subscription newSubscription) {
        subscription = newSubscription;
        newSubscription.request(Long.MAX_VALUE);
    }

    @Override
    public synchronized void onNext(List<ByteBuffer> buffers) {
        readNanos = watch.nanos();
        for (var buffer : buffers) {
            if (head != null && head.statusCode() == OK) {
                lines.read(buffer);
            } else {
                errorBody.append(StandardCharsets.UTF_8.decode(buffer));
            }
        }
    }

    private void onData(String data) {
        if (whenEnded.isDone()) {
            return;
        }
        answer.onData(data, readNanos);
        if (answer.chunkNanos().size() >= maxChunks) {
            var unused = abort();
        }
    }

    @Override
    public void onError(Throwable failure) {
        whenEnded.complete(onFailure(failure));
    }

    @Override
    public synchronized void onComplete() {
        if (head != null && head.statusCode() != OK) {
            answer.fail("HTTP " + head.statusCode() + ": " + errorMessage());
        } else if (!whenEnded.isDone()) {
            answer.end();
        }
        whenEnded.complete(answer);
    }

    private String errorMessage() {
        try {
            var message = JSON.readTree(errorBody.toString()).path("error").path("message");
            return message.isTextual() ? message.textValue() : errorBody.toString();
        } catch (IOException e) {
            return errorBody.toString();
        }
    }
}
