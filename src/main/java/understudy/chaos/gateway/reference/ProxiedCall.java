package understudy.chaos.gateway.reference;

import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.pekko.NotUsed;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpEntity;
import org.apache.pekko.http.javadsl.model.HttpHeader;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.headers.RawHeader;
import org.apache.pekko.stream.KillSwitches;
import org.apache.pekko.stream.SharedKillSwitch;
import org.apache.pekko.stream.javadsl.Framing;
import org.apache.pekko.stream.javadsl.FramingTruncation;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;
import org.jspecify.annotations.Nullable;
import understudy.api.http.ClientConnection;
import understudy.api.http.SameThread;

/**
 * One call on its way through the gateway: it is sent to replica after replica until one begins an answer, which is then
 * passed on. When the client leaves, so does the request.
 */
final class ProxiedCall implements ClientConnection.Exchange {
    private static final long RETRY_MILLIS = 50;
    private static final long MAX_WAIT_NANOS = Duration.ofSeconds(3).toNanos();
    private static final long REFUSAL_MILLIS = 1_000;
    private static final int MAX_EVENT_BYTES = 1 << 20;
    private static final ByteString EVENT_END = ByteString.fromString("\n\n");
    private static final ByteString DONE = ByteString.fromString("data: [DONE]\n\n");

    private static final int NOT_FOUND = 404;
    private static final int TOO_MANY_REQUESTS = 429;
    private static final int INTERNAL_ERROR = 500;
    private static final int BAD_GATEWAY = 502;
    private static final int UNAVAILABLE = 503;

    private static final Set<String> OF_ONE_CONNECTION = Set.of(
            "connection", "keep-alive", "transfer-encoding", "te", "trailer", "upgrade", "host", "timeout-access");

    private final Proxy proxy;
    private final HttpRequest request;
    private final PromptText prompt;
    private final long sinceNanos;
    private final BitSet tried = new BitSet();
    private final CompletableFuture<HttpResponse> answer = new CompletableFuture<>();
    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    private @Nullable HttpResponse refusal;
    private @Nullable SharedKillSwitch kill;
    private boolean isLeft;

    ProxiedCall(Proxy proxy, HttpRequest request, ByteString body) {
        this.proxy = proxy;
        this.request = HttpRequest.create(request.getUri().getPathString())
                .withUri(request.getUri().toRelative())
                .withMethod(request.method())
                .addHeaders(passedOn(request.getHeaders()))
                .withEntity(request.entity());
        prompt = proxy.prompt(body.toArray());
        sinceNanos = proxy.nowNanos();
    }

    CompletionStage<HttpResponse> start() {
        proxy.whenInformed().whenComplete((done, failure) -> next());
        return answer;
    }

    @Override
    public CompletionStage<Void> closed() {
        return closed;
    }

    @Override
    public synchronized void close() {
        isLeft = true;
        if (kill != null && proxy.wrong != WrongDecision.RUNS_ON) {
            kill.abort(new IllegalStateException("the client has left"));
        }
    }

    /** Goes on, and answers whatever happens: a call without an answer would hang its client. */
    private void next() {
        try {
            sendToNext();
        } catch (RuntimeException e) {
            finish(error(INTERNAL_ERROR, "the gateway failed"));
            proxy.system.log().error("call failed", e);
        }
    }

    private synchronized void sendToNext() {
        if (isLeft) {
            finish(error(BAD_GATEWAY, "the client has left"));
            return;
        }
        int replica = proxy.book.choose(prompt, tried, proxy.nowNanos());
        if (replica < 0) {
            waitOrGiveUp();
            return;
        }
        tried.set(replica);
        var sent = KillSwitches.shared("call");
        kill = sent;
        proxy.upstream.send(proxy.replicas.get(replica), request, sent).whenComplete((begun, failure) -> {
            if (begun == null) {
                sent.abort(failure);
                onFailed(replica, failure);
            } else {
                onBegun(replica, begun);
            }
        });
    }

    /** Replicas that start will be there soon; those that refuse have said when to come back. */
    private void waitOrGiveUp() {
        long refusedNanos = proxy.book.refusedNanos(proxy.nowNanos());
        if (refusal != null) {
            finish(refusal);
        } else if (refusedNanos > 0) {
            long seconds = (refusedNanos + TimeUnit.SECONDS.toNanos(1) - 1) / TimeUnit.SECONDS.toNanos(1);
            finish(error(UNAVAILABLE, "all replicas refuse requests for now")
                    .addHeader(RawHeader.create("Retry-After", Long.toString(seconds))));
        } else if (proxy.nowNanos() - sinceNanos > MAX_WAIT_NANOS || !tried.isEmpty()) {
            finish(error(tried.isEmpty() ? UNAVAILABLE : BAD_GATEWAY, "no replica answers"));
        } else {
            proxy.system
                    .scheduler()
                    .scheduleOnce(Duration.ofMillis(RETRY_MILLIS), this::next, proxy.system.executionContext());
        }
    }

    private void onFailed(int replica, Throwable failure) {
        proxy.book.onEnded(replica);
        var cause = failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        if (cause instanceof TimeoutException) {
            proxy.book.onStuck(replica, proxy.nowNanos());
        } else if (!isLeft()) {
            proxy.book.onBroken(replica);
        }
        next();
    }

    private synchronized boolean isLeft() {
        return isLeft;
    }

    private void onBegun(int replica, Upstream.Begun begun) {
        int status = begun.head().status().intValue();
        if (status == TOO_MANY_REQUESTS || status >= INTERNAL_ERROR || status == NOT_FOUND) {
            onRefused(replica, begun, status);
        } else {
            finish(response(begun.head(), counted(replica, begun.body())));
        }
    }

    /** What the replica says is kept, for the case that no other one says anything better. */
    private void onRefused(int replica, Upstream.Begun begun, int status) {
        long nowNanos = proxy.nowNanos();
        long seconds = retryAfterSeconds(begun.head());
        if (seconds > 0) {
            proxy.book.onRefused(replica, nowNanos + TimeUnit.SECONDS.toNanos(seconds));
        } else if (status == UNAVAILABLE) {
            proxy.book.onBroken(replica);
        } else if (status == NOT_FOUND) {
            proxy.book.onLacking(replica, prompt.model(), nowNanos);
        }
        var response = response(begun.head(), begun.body());
        response.entity().toStrict(REFUSAL_MILLIS, proxy.system).whenComplete((body, failure) -> {
            proxy.book.onEnded(replica);
            if (body != null) {
                keep(response.withEntity(body));
            }
            next();
        });
    }

    private synchronized void keep(HttpResponse response) {
        refusal = proxy.wrong == WrongDecision.IGNORES_RETRY_AFTER ? response.removeHeader("Retry-After") : response;
    }

    private static long retryAfterSeconds(HttpResponse head) {
        String value = head.getHeader("Retry-After").map(HttpHeader::value).orElse("");
        return value.matches("\\d{1,6}") ? Long.parseLong(value) : 0;
    }

    private void finish(HttpResponse response) {
        answer.complete(response);
        if (response.entity().isStrict()) {
            closed.complete(null);
        }
    }

    /** Counts the request as ended with the bytes of its answer, and tells the book if they broke off. */
    private Source<ByteString, NotUsed> counted(int replica, Source<ByteString, NotUsed> body) {
        var bytes = body.watchTermination((before, ended) -> {
            SameThread.after(ended).whenComplete((done, failure) -> {
                proxy.book.onEnded(replica);
                if (failure instanceof TimeoutException) {
                    proxy.book.onStuck(replica, proxy.nowNanos());
                } else if (failure != null && !isLeft()) {
                    proxy.book.onBroken(replica);
                }
            });
            return before;
        });
        return misled(bytes).watchTermination((before, ended) -> {
            SameThread.after(ended).whenComplete((done, failure) -> closed.complete(null));
            return before;
        });
    }

    /** Does to a stream what the gateway gets wrong. */
    private Source<ByteString, NotUsed> misled(Source<ByteString, NotUsed> bytes) {
        return switch (proxy.wrong) {
            case RETRY_AFTER_FIRST_BYTE ->
                prompt.isStreamed() ? events(bytes).recoverWithRetries(1, Throwable.class, this::again) : bytes;
            case SWALLOWS_STREAM_ERRORS ->
                prompt.isStreamed()
                        ? events(bytes).recoverWithRetries(1, Throwable.class, () -> Source.single(DONE))
                        : bytes;
            case BUFFERS_STREAMS -> bytes.fold(ByteString.emptyByteString(), ByteString::concat);
            case RUNS_ON -> detached(bytes);
            default -> bytes;
        };
    }

    /** Whole events, so that what follows a broken one can be read. */
    private static Source<ByteString, NotUsed> events(Source<ByteString, NotUsed> bytes) {
        return bytes.via(Framing.delimiter(EVENT_END, MAX_EVENT_BYTES, FramingTruncation.DISALLOW))
                .map(event -> event.concat(EVENT_END));
    }

    private Source<ByteString, NotUsed> again() {
        int replica = proxy.book.choose(prompt, tried, proxy.nowNanos());
        if (replica < 0) {
            return Source.failed(new IllegalStateException("no replica answers"));
        }
        proxy.book.onEnded(replica);
        var again = proxy.upstream.send(proxy.replicas.get(replica), request, KillSwitches.shared("again"));
        return Source.completionStageSource(again.thenApply(Upstream.Begun::body))
                .mapMaterializedValue(body -> NotUsed.getInstance());
    }

    /** Bytes that are read whether the client reads them or not. */
    private Source<ByteString, NotUsed> detached(Source<ByteString, NotUsed> bytes) {
        var queue = Source.<ByteString>queue(MAX_EVENT_BYTES).preMaterialize(proxy.system);
        SameThread.after(bytes.runForeach(queue.first()::offer, proxy.system)).whenComplete((done, failure) -> {
            if (failure == null) {
                queue.first().complete();
            } else {
                queue.first().fail(failure);
            }
        });
        return queue.second();
    }

    private static HttpResponse response(HttpResponse head, Source<ByteString, NotUsed> body) {
        var type = head.entity().getContentType();
        long length = head.entity().getContentLengthOption().orElse(0);
        HttpEntity.Chunked chunked = HttpEntities.createChunked(type, body);
        return HttpResponse.create()
                .withStatus(head.status())
                .addHeaders(passedOn(head.getHeaders()))
                // The library takes no length of 0 for a body that must be read.
                .withEntity(length > 0 ? HttpEntities.create(type, length, body) : chunked);
    }

    private static List<HttpHeader> passedOn(Iterable<HttpHeader> headers) {
        var passed = new ArrayList<HttpHeader>();
        headers.forEach(header -> {
            if (!OF_ONE_CONNECTION.contains(header.lowercaseName())) {
                passed.add(header);
            }
        });
        return passed;
    }

    private static HttpResponse error(int status, String message) {
        return HttpResponse.create()
                .withStatus(status)
                .withEntity(HttpEntities.create(
                        ContentTypes.APPLICATION_JSON,
                        "{\"error\":{\"message\":\"" + message + "\",\"type\":\"gateway\",\"code\":" + status + "}}"));
    }
}
