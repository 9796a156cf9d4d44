package understudy.cluster;

import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongList;
import it.unimi.dsi.fastutil.longs.LongLists;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.apache.pekko.actor.typed.ActorRef;
import org.jspecify.annotations.Nullable;
import understudy.engine.EngineRequest;
import understudy.engine.FinishReason;
import understudy.engine.Request;
import understudy.engine.StepResult;
import understudy.report.Outcome;
import understudy.report.ReplicaCounters;
import understudy.report.RequestRecord;

/** Senders of the requests on a replica: the events told to each, and the record written when a request ends. */
final class ClientTable {
    private final int replicaIndex;
    private final ReplicaCounters counters;
    private final Long2ObjectOpenHashMap<Client> byRequest = new Long2ObjectOpenHashMap<>();
    private final boolean keepsTokenTimes;
    private int numStreaming;
    private int numToCut;

    ClientTable(int replicaIndex, ReplicaCounters counters, boolean keepsTokenTimes) {
        this.replicaIndex = replicaIndex;
        this.counters = counters;
        this.keepsTokenTimes = keepsTokenTimes;
    }

    /** Submitted request, and the times of its tokens if they are kept. */
    private record Client(Replica.AddRequest submit, LongList tokenNanos) {

        ActorRef<? super RequestEvent> replyTo() {
            return submit.replyTo();
        }

        int cutAfterTokens() {
            return submit.fault().cutAfterTokens();
        }
    }

    void add(Replica.AddRequest submit) {
        LongList tokenNanos = keepsTokenTimes ? new LongArrayList() : LongLists.EMPTY_LIST;
        var client = new Client(submit, tokenNanos);
        byRequest.put(submit.request().id(), client);
        count(client, 1);
    }

    boolean contains(long requestId) {
        return byRequest.containsKey(requestId);
    }

    int size() {
        return byRequest.size();
    }

    /** Returns the ids of all requests in the table, in ascending order. */
    long[] requestIds() {
        long[] ids = byRequest.keySet().toLongArray();
        Arrays.sort(ids);
        return ids;
    }

    Request request(long requestId) {
        return clientOf(requestId).submit.request();
    }

    /** Returns whether no other replica may serve a request. */
    boolean isPinned(long requestId) {
        return clientOf(requestId).submit.isPinned();
    }

    /**
     * Tells streaming senders of their tokens, and returns whether there are any. Costs nothing when no sender streams
     * and no times are kept.
     */
    boolean onSampled(StepResult result, long atNanos) {
        if (numStreaming == 0 && !keepsTokenTimes) {
            return false;
        }
        var sampled = result.sampled();
        for (var request : sampled) {
            var client = clientOf(request.request().id());
            if (client.submit.isStreaming()) {
                client.replyTo()
                        .tell(new RequestEvent.Token(request.request().id(), request.numOutputTokens(), atNanos));
            }
            if (keepsTokenTimes) {
                client.tokenNanos.add(atNanos);
            }
        }
        return numStreaming > 0;
    }

    /** Returns the requests with a token that go on, but whose answers are to break off now. */
    List<EngineRequest> toCut(StepResult result) {
        if (numToCut == 0) {
            return List.of();
        }
        return result.sampled().stream()
                .filter(request -> !request.isFinished())
                .filter(request -> request.numOutputTokens()
                        == clientOf(request.request().id()).cutAfterTokens())
                .toList();
    }

    /** Tells the senders of requests that are complete, and returns the records of these. */
    List<RequestRecord> finish(List<EngineRequest> finished) {
        if (finished.isEmpty()) {
            return List.of();
        }
        var records = new ArrayList<RequestRecord>(finished.size());
        for (var request : finished) {
            var client = remove(request.request(), request);
            client.replyTo().tell(finished(request, request.lastTokenNanos()));
            records.add(RequestRecord.completed(request, replicaIndex, client.tokenNanos));
        }
        return records;
    }

    private RequestEvent.Finished finished(EngineRequest request, long atNanos) {
        return new RequestEvent.Finished(
                request.request().id(),
                Objects.requireNonNull(request.finishReason()),
                request.numCachedTokens(),
                request.numOutputTokens(),
                atNanos,
                timing(request));
    }

    private RequestEvent.Timing timing(EngineRequest request) {
        return new RequestEvent.Timing(
                replicaIndex, request.queuedNanos(), request.scheduledNanos(), request.firstTokenNanos());
    }

    /** Tells the sender of a request that it is aborted; {@code progress} is null before the queue. */
    RequestRecord abort(Request request, @Nullable EngineRequest progress, long atNanos) {
        var client = remove(request, progress);
        if (progress == null) {
            var timing = RequestEvent.Timing.notQueued(replicaIndex);
            client.replyTo().tell(new RequestEvent.Finished(request.id(), FinishReason.ABORT, 0, 0, atNanos, timing));
            return RequestRecord.aborted(request, replicaIndex, atNanos);
        }
        var ended = RequestRecord.aborted(progress, replicaIndex, atNanos, client.tokenNanos);
        client.replyTo().tell(finished(progress, ended.lastTokenNanos()));
        return ended;
    }

    /** Tells the sender of a request that it failed; {@code progress} is null before the queue. */
    RequestRecord fail(
            Request request,
            @Nullable EngineRequest progress,
            RequestEvent.FailureCause cause,
            String reason,
            long atNanos) {
        var client = remove(request, progress);
        int numCached = progress == null ? 0 : progress.numCachedTokens();
        int numOutput = progress == null ? 0 : progress.numOutputTokens();
        var timing = progress == null ? RequestEvent.Timing.notQueued(replicaIndex) : timing(progress);
        client.replyTo()
                .tell(new RequestEvent.Failed(request.id(), cause, reason, numCached, numOutput, atNanos, timing));
        return progress == null
                ? RequestRecord.failed(request, replicaIndex, atNanos)
                : RequestRecord.failed(progress, replicaIndex, atNanos, client.tokenNanos);
    }

    /** Tells a sender that its request can never be served. */
    RequestRecord reject(Replica.AddRequest submit, String reason, long atNanos) {
        counters.onEnded(0);
        submit.replyTo().tell(new RequestEvent.Rejected(submit.request().id(), Outcome.REJECTED, reason, atNanos));
        return RequestRecord.rejected(submit.request(), replicaIndex, atNanos);
    }

    /** Gives up a request that another replica is to serve, and returns it as it came. */
    Replica.AddRequest withdraw(Request request, @Nullable EngineRequest progress) {
        counters.onWithdrawn(progress == null ? 0 : progress.numPreemptions());
        return remove(request, progress).submit;
    }

    private Client remove(Request request, @Nullable EngineRequest progress) {
        var client = clientOf(request.id());
        byRequest.remove(request.id());
        counters.onEnded(progress == null ? 0 : progress.numPeeks());
        count(client, -1);
        return client;
    }

    private void count(Client client, int change) {
        numStreaming += client.submit.isStreaming() ? change : 0;
        numToCut += client.cutAfterTokens() > 0 ? change : 0;
    }

    private Client clientOf(long requestId) {
        return Objects.requireNonNull(byRequest.get(requestId), () -> "nobody waits for request " + requestId);
    }
}
