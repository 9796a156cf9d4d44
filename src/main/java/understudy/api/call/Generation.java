package understudy.api.call;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.soabase.recordbuilder.core.RecordBuilder;
import java.util.Locale;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import understudy.api.http.Arrival;
import understudy.api.model.Answer;
import understudy.api.model.Detokenizer;
import understudy.api.model.StopStrings;
import understudy.api.model.Tokenizer;
import understudy.cluster.RequestEvent;
import understudy.engine.FinishReason;
import understudy.engine.OutputPlan;
import understudy.engine.Request;
import understudy.engine.RequestBuilder;
import understudy.engine.SamplingParams;
import understudy.faults.RequestFault;
import understudy.kvcache.connector.KvTransferParams;
import understudy.prompt.Prompt;
import understudy.prompt.SessionTurn;
import understudy.prompt.TokenIds;

/**
 * One request to the engine, as its sender sees it: turns tokens into text and looks for stop strings, as vLLM's output
 * processor does. Events come from one thread at a time.
 */
public final class Generation {
    private final long id;
    private final Spec spec;
    private final Arrival arrival;
    private final Detokenizer detokenizer = new Detokenizer();
    private final StopStrings stops;
    private final StringBuilder unsent = new StringBuilder();
    private int numSentTokens;
    private int numTokens;
    private @Nullable String reason;
    private volatile long arrivalNanos;
    private volatile long tookNanos;
    private volatile @Nullable Integer replicaIndex;
    private volatile @Nullable ObjectNode kvTransferParams;
    private volatile int malformedAtToken;
    private volatile @Nullable Long firstTokenNanos;

    /**
     * Specification of a generation.
     *
     * @param choice which answer of the call
     * @param name vLLM's {@code request_id}
     * @param loraName its LoRA adapter, or empty for the base model
     * @param turn its place in a session
     * @param replica the one that is to serve it, or empty for any
     * @param kvTransfer KV transfer parameters of the request, or null if none
     */
    @RecordBuilder
    public record Spec(
            int choice,
            String name,
            TokenIds prompt,
            String loraName,
            SessionTurn turn,
            GenerationParams params,
            int maxTokens,
            int maxModelLen,
            Answer answer,
            Tokenizer tokenizer,
            OptionalInt replica,
            @Nullable KvTransferParams kvTransfer) {

        /** Returns the name of its call, which its own begins with. */
        String callName() {
            return name.substring(0, name.lastIndexOf('-'));
        }

        /** Returns whether its blocks are to be kept for another process. */
        boolean isToKeep() {
            return kvTransfer != null && kvTransfer.doRemoteDecode();
        }
    }

    Generation(long id, Spec spec, Arrival arrival) {
        this.id = id;
        this.spec = spec;
        this.arrival = arrival;
        malformedAtToken = arrival.malformedAtToken();
        stops = new StopStrings(spec.params.stops(), spec.params.includesStop());
    }

    public long id() {
        return id;
    }

    public Spec spec() {
        return spec;
    }

    /** Returns the replica that is to serve it: that of the port, or that of the header; empty for any. */
    OptionalInt replica() {
        boolean isRanked = spec.replica.isEmpty() && arrival.rank().isPresent();
        return isRanked ? OptionalInt.of((int) arrival.rank().getAsLong()) : spec.replica;
    }

    /**
     * Returns the tenant whose fair share it takes: the gateway's, or else the body's user; empty if neither is given.
     */
    String tenant() {
        return arrival.tenant().isEmpty() ? spec.params.user() : arrival.tenant();
    }

    RequestFault fault() {
        return arrival.fault();
    }

    /** Returns when the request arrived, in virtual time. */
    public long arrivalNanos() {
        return arrivalNanos;
    }

    /** Returns the replica that serves the request, or null if that is not known. */
    public @Nullable Integer replicaIndex() {
        return replicaIndex;
    }

    /** Returns the answer's field {@code kv_transfer_params}, or null if there is none. */
    public @Nullable ObjectNode kvTransferParams() {
        return kvTransferParams;
    }

    void setKvTransferParams(ObjectNode params) {
        kvTransferParams = params;
    }

    /** Has an output token reach the client as broken JSON, counted from 1; 0 is none. An earlier one goes first. */
    void malformAt(int token) {
        malformedAtToken = MalformedStreams.earlier(malformedAtToken, token);
    }

    /** Returns whether a piece of the answer is to reach the client as broken JSON. */
    boolean isMalformed(Delta delta) {
        return delta.fromToken() < malformedAtToken && malformedAtToken <= delta.toToken();
    }

    /** Returns when the first token came, in virtual time, or null if none has, or if tokens are not followed. */
    public @Nullable Long firstTokenNanos() {
        return firstTokenNanos;
    }

    /** Returns how long a complete answer has taken, in virtual time; 0 before. */
    public long tookNanos() {
        return tookNanos;
    }

    public int numTokens() {
        return numTokens;
    }

    /** Returns why the answer ended, in the words of {@code finish_reason}, or null while it has not. */
    public @Nullable String reason() {
        return reason;
    }

    /** Returns a token of the answer that has been sampled. */
    public int tokenAt(int index) {
        return spec.answer.tokens().tokenAt(index);
    }

    /** Returns whether every token must be known when it is sampled: to send it, or to look for stop strings. */
    boolean needsTokens() {
        return spec.params.streams() || !spec.params.stops().isEmpty();
    }

    /**
     * Returns the request for the engine. It arrived when it was read: reading it is part of the API's delay, which the
     * emulation adds from then on.
     */
    Request request(long nowNanos, double speed) {
        arrivalNanos = Math.max(0, nowNanos - arrival.virtualAgeNanos(speed));
        var params = spec.params;
        var sampling = new SamplingParams(
                spec.maxTokens,
                Math.min(params.minTokens(), spec.maxTokens),
                params.ignoresEos(),
                params.stopTokenIds(),
                params.numPromptLogprobs() >= 0);
        return RequestBuilder.builder()
                .id(id)
                .name(spec.name)
                .arrivalNanos(arrivalNanos)
                .prompt(new Prompt(spec.prompt, spec.loraName, params.cacheSalt(), spec.turn))
                .sampling(sampling)
                .priority(params.priority())
                .hasPriority(params.priority() != 0)
                .tenant(tenant())
                .output(new OutputPlan(spec.answer.tokens(), spec.answer.length()))
                .kvTransfer(spec.kvTransfer)
                .build();
    }

    /** Records which replica has the request. */
    void onAdmitted(RequestEvent.Admitted admitted) {
        replicaIndex = admitted.replicaIndex();
    }

    /** Returns the next piece of the text, or null if none is due: then a stop string may have been found. */
    @Nullable Delta onToken(RequestEvent.Token token) {
        if (firstTokenNanos == null) {
            firstTokenNanos = token.atNanos();
        }
        int count = token.numOutputTokens();
        read(count);
        return !isStopped() && !mayBeLast(count) && isDue() ? next(null) : null;
    }

    /** Returns whether a stop string was found: the text is complete, whatever the engine does. */
    boolean isStopped() {
        return stops.found() != null;
    }

    /** Records that no complete answer will come. */
    void onFailed() {
        reason = "error";
    }

    /** As in vLLM, the first token of a stream goes out at once, and the others once there are enough. */
    private boolean isDue() {
        return numSentTokens == 0 || numTokens - numSentTokens >= spec.params.streamInterval();
    }

    /** Returns the last piece of the text. */
    Delta onFinished(RequestEvent.Finished finished) {
        tookNanos = finished.atNanos() - arrivalNanos;
        read(finished.numOutputTokens());
        if (isStopped()) {
            return end("stop", stops.found(), finished.numCachedTokens());
        }
        unsent.append(stops.append(detokenizer.end(), false)).append(stops.end());
        boolean isStop = finished.reason() == FinishReason.STOP;
        boolean isStopToken = isStop && numTokens != spec.answer.length();
        Object stopReason = isStopToken ? Integer.valueOf(tokenAt(numTokens - 1)) : null;
        return end(finished.reason().name().toLowerCase(Locale.ROOT), stopReason, finished.numCachedTokens());
    }

    private Delta end(String endReason, @Nullable Object stopReason, int numCachedTokens) {
        reason = endReason;
        return next(new Delta.Ending(endReason, stopReason, numCachedTokens));
    }

    private void read(int count) {
        for (; numTokens < count && stops.found() == null; numTokens++) {
            int token = tokenAt(numTokens);
            String text = isSilent(token, numTokens) ? "" : detokenizer.append(spec.tokenizer.text(token));
            unsent.append(stops.append(text, numTokens >= spec.params.minTokens()));
        }
    }

    /** End-of-sequence tokens have no text, and neither have stop tokens unless they are asked for. */
    private boolean isSilent(int token, int index) {
        var params = spec.params;
        boolean stopsHere = params.stopTokenIds().contains(token) && index + 1 >= params.minTokens();
        boolean isSpecial = params.skipsSpecialTokens() && spec.tokenizer.isSpecial(token);
        return isSpecial || (stopsHere && !params.includesStop());
    }

    /** The last piece carries the reason of the end, so it waits for that; a wrong guess only merges two pieces. */
    private boolean mayBeLast(int count) {
        return count >= spec.maxTokens
                || spec.prompt.length() + count >= spec.maxModelLen
                || count == spec.answer.length()
                || spec.params.stopTokenIds().contains(tokenAt(count - 1));
    }

    private Delta next(Delta.@Nullable Ending ending) {
        var delta = new Delta(spec.choice, numSentTokens, numTokens, unsent.toString(), ending);
        numSentTokens = numTokens;
        unsent.setLength(0);
        return delta;
    }
}
