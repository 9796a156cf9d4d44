package understudy.workload.agentic;

import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;
import understudy.prompt.SessionTurn;
import understudy.workload.agentic.AgenticSession.Branch;
import understudy.workload.files.TraceException;
import understudy.workload.trace.TraceReader;
import understudy.workload.trace.TraceRow;
import understudy.workload.trace.TraceRowBuilder;

/**
 * Sessions of agents as a trace: their requests in order of time, as if all sessions had begun at once. Holds what is new in
 * each turn of all sessions, and the blocks of the next turn of each agent and sub-agent.
 */
public final class AgenticTraceReader implements TraceReader {
    private static final double NANOS_PER_SECOND = 1e9;
    private static final int ID_BITS = 40;

    private final PriorityQueue<Cursor> next = new PriorityQueue<>(
            Comparator.comparingDouble(Cursor::startSeconds).thenComparingLong(cursor -> cursor.number));
    private long numRows;

    /** Reads the sessions of a folder, an archive or a file; see {@link AgenticWorkload}. */
    public AgenticTraceReader(Path path) {
        try (var texts = new SessionTexts(path, null)) {
            long session = 0;
            for (var text = texts.next(); text != null; text = texts.next()) {
                add(SessionReader.read(text), session++);
            }
        }
        if (next.isEmpty()) {
            throw new TraceException(path.toString(), "there are no sessions, neither .json nor .jsonl");
        }
    }

    private void add(AgenticSession session, long number) {
        var turns = new TurnCount(number);
        for (var branch : session.branches()) {
            if (!branch.turns().isEmpty()) {
                next.add(new Cursor(session, branch, turns, next.size()));
            }
        }
    }

    @Override
    public @Nullable TraceRow next() {
        var cursor = next.poll();
        if (cursor == null) {
            return null;
        }
        var row = cursor.take(++numRows);
        if (cursor.hasMore()) {
            next.add(cursor);
        }
        return row;
    }

    @Override
    public void close() {
        next.clear();
    }

    /** Turns of a session so far, sub-agents included. */
    private static final class TurnCount {
        final long session;
        int numTurns;

        TurnCount(long session) {
            this.session = session;
        }
    }

    /** Place in the turns of an agent or sub-agent. */
    private static final class Cursor {
        final long number;
        private final AgenticSession session;
        private final Branch branch;
        private final TurnCount turns;
        private final LongArrayList ids = new LongArrayList();
        private int index;

        Cursor(AgenticSession session, Branch branch, TurnCount turns, long number) {
            this.session = session;
            this.branch = branch;
            this.turns = turns;
            this.number = number;
        }

        double startSeconds() {
            return branch.turns().get(index).startSeconds();
        }

        boolean hasMore() {
            return index < branch.turns().size();
        }

        TraceRow take(long line) {
            var turn = branch.turns().get(index++);
            ids.size(turn.numShared());
            for (int i = 0; i < turn.moreIds().size(); i++) {
                ids.add(named(turn.moreIds().getLong(i)));
            }
            turns.numTurns++;
            return TraceRowBuilder.builder()
                    .line(line)
                    .arrivalNanos(Math.round(turn.startSeconds() * NANOS_PER_SECOND))
                    .numPromptTokens(turn.numPromptTokens())
                    .blockIds(new LongArrayList(ids))
                    .blockTokens(session.blockSize())
                    .outputBlockIds(LongArrayList.of())
                    .numOutputTokens(turn.numOutputTokens())
                    .maxTokens(0)
                    .priority(0)
                    .tenant("")
                    .loraName("")
                    .turn(SessionTurn.of(turns.session, turns.numTurns))
                    .build();
        }

        /** Returns a name that no other session has. */
        private long named(long id) {
            return session.isGlobal() ? id : ((turns.session + 1) << ID_BITS) + id;
        }
    }
}
