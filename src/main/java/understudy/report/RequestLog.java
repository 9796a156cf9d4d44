package understudy.report;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.LongList;
import it.unimi.dsi.fastutil.longs.LongLists;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import understudy.kvcache.PrefixCacheEvents;
import understudy.prompt.SessionTurn;

/**
 * Log of the requests that have ended, in the order in which they did, as columns. A request takes 52 bytes as a rule, at
 * most 104, and what its token times take, if they are kept.
 */
public final class RequestLog {
    private static final List<Outcome> OUTCOMES = List.of(Outcome.values());
    private static final int COMPLETED = OUTCOMES.indexOf(Outcome.COMPLETED);

    final NumberColumn requestIds = new NumberColumn();
    final NumberColumn arrivalNanos = new NumberColumn();
    final NumberColumn queuedNanos = new NumberColumn();
    final NumberColumn scheduledNanos = new NumberColumn();
    final NumberColumn firstTokenNanos = new NumberColumn();
    final NumberColumn lastTokenNanos = new NumberColumn();
    /** From the last token to the end, which is nothing for most. */
    private final NumberColumn endingNanos = new NumberColumn();

    final NumberColumn promptTokens = new NumberColumn();
    final NumberColumn cachedTokens = new NumberColumn();
    final NumberColumn outputTokens = new NumberColumn();
    final NumberColumn preemptions = new NumberColumn();
    final NumberColumn turns = new NumberColumn();
    final NumberColumn events = new NumberColumn();
    private final NumberColumn outcomes = new NumberColumn();
    private final NumberColumn replicaIndexes = new NumberColumn();
    private final NumberColumn priorities = new NumberColumn();
    private final NumberColumn sessionIds = new NumberColumn();
    private final NumberColumn truncatedTokens = new NumberColumn();
    private final List<LongList> tokenNanos = new ArrayList<>();
    private final int[] numByOutcome = new int[OUTCOMES.size()];
    private final boolean keepsTokenTimes;
    private int size;

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
        endingNanos.add(ended.endNanos() - ended.lastTokenNanos());
        promptTokens.add(ended.numPromptTokens());
        cachedTokens.add(ended.numCachedTokens());
        outputTokens.add(ended.numOutputTokens());
        preemptions.add(ended.numPreemptions());
        turns.add(ended.turn().turn());
        events.add(ended.events().mask());
        outcomes.add(OUTCOMES.indexOf(ended.outcome()));
        replicaIndexes.add(ended.replicaIndex());
        priorities.add(ended.priority());
        sessionIds.add(ended.turn().sessionId());
        truncatedTokens.add(ended.turn().numTruncatedTokens());
        if (keepsTokenTimes) {
            tokenNanos.add(ended.tokenNanos());
        }
        numByOutcome[OUTCOMES.indexOf(ended.outcome())]++;
        size++;
    }

    public int size() {
        return size;
    }

    /** Returns how many requests have ended in this way. */
    public int count(Outcome outcome) {
        return numByOutcome[OUTCOMES.indexOf(outcome)];
    }

    /** Returns how many requests were turned away. */
    public long countRejections() {
        return OUTCOMES.stream()
                .filter(Outcome::isRejection)
                .mapToLong(this::count)
                .sum();
    }

    /** Returns all requests, in the order of ending. */
    public Stream<RequestRecord> stream() {
        return IntStream.range(0, size).mapToObj(this::get);
    }

    /** Returns the numbers of a column for the requests that were answered, in the order of ending. */
    long[] completed(NumberColumn column) {
        long[] all = column.toArray();
        if (count(Outcome.COMPLETED) == size) {
            return all;
        }
        long[] codes = outcomes.toArray();
        long[] completed = new long[count(Outcome.COMPLETED)];
        int found = 0;
        for (int i = 0; i < size; i++) {
            if (codes[i] == COMPLETED) {
                completed[found++] = all[i];
            }
        }
        return completed;
    }

    /** Returns the indexes of the requests that were answered, in the order of ending. */
    IntList completed() {
        return IntArrayList.toList(IntStream.range(0, size).filter(i -> outcomes.get(i) == COMPLETED));
    }

    public boolean keepsTokenTimes() {
        return keepsTokenTimes;
    }

    /** Returns when each output token was sampled, if that is kept. */
    LongList tokenNanos(int index) {
        return keepsTokenTimes ? tokenNanos.get(index) : LongLists.EMPTY_LIST;
    }

    /** Returns a request, in the order of ending. */
    public RequestRecord get(int index) {
        return RequestRecordBuilder.builder()
                .requestId(requestIds.get(index))
                .replicaIndex(replicaIndexes.getInt(index))
                .outcome(OUTCOMES.get(outcomes.getInt(index)))
                .arrivalNanos(arrivalNanos.get(index))
                .queuedNanos(queuedNanos.get(index))
                .scheduledNanos(scheduledNanos.get(index))
                .firstTokenNanos(firstTokenNanos.get(index))
                .lastTokenNanos(lastTokenNanos.get(index))
                .endNanos(lastTokenNanos.get(index) + endingNanos.get(index))
                .numPromptTokens(promptTokens.getInt(index))
                .numCachedTokens(cachedTokens.getInt(index))
                .numOutputTokens(outputTokens.getInt(index))
                .numPreemptions(preemptions.getInt(index))
                .priority(priorities.getInt(index))
                .turn(new SessionTurn(sessionIds.get(index), turns.getInt(index), truncatedTokens.getInt(index)))
                .events(new PrefixCacheEvents(events.getInt(index)))
                .tokenNanos(tokenNanos(index))
                .build();
    }
}
