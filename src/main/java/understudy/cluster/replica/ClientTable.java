package understudy.cluster.replica;

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
import understudy.cluster.Replica;
import understudy.cluster.RequestEvent;
import understudy.engine.AnswerProgress;
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

        boolean isToCutAt(int numTokens) {
            return cutAfterTokens() > 0 && numTokens >= cutAfterTokens();
        }
    }

    /** End of a request on this replica: how far it has come, as the request that it was here. */
    private record Ending(Client client, Request request, AnswerProgress progress) {

        RequestRecord finish(FinishReason reason, Outcome outcome, int replicaIndex, long atNanos) {
            var ended = RequestRecord.ended(request, progress, replicaIndex, outcome, atNanos);
            client.replyTo()
                    .tell(new RequestEvent.Finished(
                            request.id(),
                            reason,
                            progress.numCachedTokens(),
                            progress.numTokens(),
                            ended.lastTokenNanos(),
                            RequestEvent.Timing.of(progress, replicaIndex)));
            return ended;
        }

        RequestRecord fail(RequestEvent.FailureCause cause, String reason, int replicaIndex, long atNanos) {
            client.replyTo()
                    .tell(new RequestEvent.Failed(
                            request.id(),
                            cause,
                            reason,
                            progress.numCachedTokens(),
                            progress.numTokens(),
                            atNanos,
                            RequestEvent.Timing.of(progress, replicaIndex),
                            0));
            return RequestRecord.ended(request, progress, replicaIndex, Outcome.FAILED, atNanos);
        }
    }

    void add(Replica.AddRequest submit) {
        LongList tokenNanos =
                keepsTokenTimes ? new LongArrayList(submit.request().progress().tokenNanos()) : LongLists.EMPTY_LIST;
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

    /** Returns the submitted request. */
    Replica.AddRequest submit(long requestId) {
        return clientOf(requestId).submit;
    }

    Request request(long requestId) {
        return clientOf(requestId).submit.request();
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
                        .tell(new RequestEvent.Token(request.request().id(), request.numAnswerTokens(), atNanos));
            }
            for (int i = 0; keepsTokenTimes && i < request.numNewTokens(); i++) {
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
                .filter(request -> clientOf(request.request().id()).isToCutAt(request.numAnswerTokens()))
                .toList();
    }

    /** Tells the senders of requests that are complete, and returns the records of these. */
    List<RequestRecord> finish(List<EngineRequest> finished) {
        if (finished.isEmpty()) {
            return List.of();
        }
        var records = new ArrayList<RequestRecord>(finished.size());
        for (var request : finished) {
            var reason = Objects.requireNonNull(request.finishReason());
            records.add(remove(request.request(), request)
                    .finish(reason, Outcome.COMPLETED, replicaIndex, request.lastTokenNanos()));
        }
        return records;
    }

    /** Tells the sender of a request that it is aborted; {@code running} is null before the queue. */
    RequestRecord abort(Request request, @Nullable EngineRequest running, long atNanos) {
        return remove(request, running).finish(FinishReason.ABORT, Outcome.ABORTED, replicaIndex, atNanos);
    }

    /** Tells the sender of a request that it failed; {@code running} is null before the queue. */
    RequestRecord fail(
            Request request,
            @Nullable EngineRequest running,
            RequestEvent.FailureCause cause,
            String reason,
            long atNanos) {
        return remove(request, running).fail(cause, reason, replicaIndex, atNanos);
    }

    /**
     * Tells a sender that its request can never be served; one that has tokens fails, since an earlier replica has
     * crashed.
     */
    RequestRecord reject(Replica.AddRequest submit, String reason, long atNanos) {
        counters.onEnded(null);
        var request = submit.request();
        if (request.earlier() != null) {
            return new Ending(new Client(submit, LongLists.EMPTY_LIST), request, request.earlier())
                    .fail(RequestEvent.FailureCause.CRASH, reason, replicaIndex, atNanos);
        }
        submit.replyTo().tell(new RequestEvent.Rejected(request.id(), Outcome.REJECTED, reason, atNanos));
        return RequestRecord.ended(request, request.progress(), replicaIndex, Outcome.REJECTED, atNanos);
    }

    /** Gives up a request that another replica is to serve, and returns the rest of it. */
    Replica.AddRequest withdraw(Request request, @Nullable EngineRequest running) {
        var ending = remove(request, running);
        var submit = ending.client.submit;
        if (running != null && running.numOutputTokens() > 0 && !request.isPrefillLeg()) {
            return submit.with(ending.request.resumed(ending.progress));
        }
        if (!request.isPrefillLeg()) {
            countPreemptionsElsewhere(running);
        }
        return submit;
    }

    private Ending remove(Request request, @Nullable EngineRequest running) {
        var client = clientOf(request.id());
        byRequest.remove(request.id());
        counters.onEnded(running);
        count(client, -1);
        if (request.isPrefillLeg()) {
            countPreemptionsElsewhere(running);
        }
        return running == null
                ? new Ending(client, request, request.progress())
                : new Ending(client, running.request(), AnswerProgress.of(running, client.tokenNanos));
    }

    /** Counts preemptions that the record of the request will not have. */
    private void countPreemptionsElsewhere(@Nullable EngineRequest running) {
        counters.onWithdrawn(running == null ? 0 : running.numPreemptions());
    }

    private void count(Client client, int change) {
        numStreaming += client.submit.isStreaming() ? change : 0;
        numToCut += client.cutAfterTokens() > 0 ? change : 0;
        counters.onCountedElsewhere(client.submit.isCountedElsewhere() ? change : 0);
    }

    private Client clientOf(long requestId) {
        return Objects.requireNonNull(byRequest.get(requestId), () -> "nobody waits for request " + requestId);
    }
}
