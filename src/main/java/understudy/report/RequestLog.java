package understudy.report;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongList;
import it.unimi.dsi.fastutil.longs.LongLists;
import it.unimi.dsi.fastutil.objects.ObjectArrayList;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import understudy.kvcache.PrefixCacheEvents;
import understudy.prompt.SessionTurn;

/** The requests that have ended, in the order in which they did; 92 bytes each, unless token times are kept. */
public final class RequestLog {
    private final boolean keepsTokenTimes;
    private final LongArrayList requestIds = new LongArrayList();
    private final LongArrayList arrivalNanos = new LongArrayList();
    private final LongArrayList queuedNanos = new LongArrayList();
    private final LongArrayList scheduledNanos = new LongArrayList();
    private final LongArrayList firstTokenNanos = new LongArrayList();
    private final LongArrayList lastTokenNanos = new LongArrayList();
    private final IntArrayList replicaIndexes = new IntArrayList();
    private final IntArrayList promptTokens = new IntArrayList();
    private final IntArrayList cachedTokens = new IntArrayList();
    private final IntArrayList outputTokens = new IntArrayList();
    private final IntArrayList preemptions = new IntArrayList();
    private final LongArrayList sessionIds = new LongArrayList();
    private final IntArrayList turns = new IntArrayList();
    private final IntArrayList truncatedTokens = new IntArrayList();
    private final IntArrayList events = new IntArrayList();
    private final ObjectArrayList<Outcome> outcomes = new ObjectArrayList<>();
    private final ObjectArrayList<LongList> tokenNanos = new ObjectArrayList<>();

    /** Creates an empty log, which drops the records' token times unless told otherwise. */
    public RequestLog(boolean keepsTokenTimes) {
        this.keepsTokenTimes = keepsTokenTimes;
    }

    public void add(RequestRecord ended) {
        requestIds.add(ended.requestId());
        arrivalNanos.add(ended.arrivalNanos());
        queuedNanos.add(ended.queuedNanos());
        scheduledNanos.add(ended.scheduledNanos());
        firstTokenNanos.add(ended.firstTokenNanos());
        lastTokenNanos.add(ended.lastTokenNanos());
        replicaIndexes.add(ended.replicaIndex());
        promptTokens.add(ended.numPromptTokens());
        cachedTokens.add(ended.numCachedTokens());
        outputTokens.add(ended.numOutputTokens());
        preemptions.add(ended.numPreemptions());
        sessionIds.add(ended.turn().sessionId());
        turns.add(ended.turn().turn());
        truncatedTokens.add(ended.turn().numTruncatedTokens());
        events.add(ended.events().mask());
        outcomes.add(ended.outcome());
        if (keepsTokenTimes) {
            tokenNanos.add(ended.tokenNanos());
        }
    }

    public int size() {
        return requestIds.size();
    }

    /** Returns how many requests have ended in this way. */
    public int count(Outcome outcome) {
        return (int) outcomes.stream().filter(each -> each == outcome).count();
    }

    /** Returns all requests, in the order of ending. */
    public Stream<RequestRecord> stream() {
        return IntStream.range(0, size()).mapToObj(this::get);
    }

    /** Returns the requests that were answered, in the order of ending. */
    Stream<RequestRecord> completed() {
        return IntStream.range(0, size())
                .filter(i -> outcomes.get(i) == Outcome.COMPLETED)
                .mapToObj(this::get);
    }

    public boolean keepsTokenTimes() {
        return keepsTokenTimes;
    }

    /** Returns a request, in the order of ending. */
    public RequestRecord get(int index) {
        return new RequestRecord(
                requestIds.getLong(index),
                replicaIndexes.getInt(index),
                outcomes.get(index),
                arrivalNanos.getLong(index),
                queuedNanos.getLong(index),
                scheduledNanos.getLong(index),
                firstTokenNanos.getLong(index),
                lastTokenNanos.getLong(index),
                promptTokens.getInt(index),
                cachedTokens.getInt(index),
                outputTokens.getInt(index),
                preemptions.getInt(index),
                new SessionTurn(sessionIds.getLong(index), turns.getInt(index), truncatedTokens.getInt(index)),
                new PrefixCacheEvents(events.getInt(index)),
                keepsTokenTimes ? tokenNanos.get(index) : LongLists.EMPTY_LIST);
    }
}
