package understudy.workload.agentic;

import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.PriorityQueue;
import org.apache.commons.rng.UniformRandomProvider;
import org.jspecify.annotations.Nullable;
import understudy.engine.Request;
import understudy.prompt.Prompt;
import understudy.prompt.SegmentedTokens;
import understudy.prompt.SessionTurn;
import understudy.workload.RandomStreams;
import understudy.workload.Workload;
import understudy.workload.agentic.LiveBranch.State;
import understudy.workload.files.TraceException;

/**
 * Plays recorded sessions of agents, so many at a time, each in a lane. Sub-agents start where they did, at the same
 * time as their agent goes on, and the turn that came after their end waits for them; those that outlived their agent are
 * waited for at the end of the session alone.
 *
 * <p>A session is read when its lane starts it, and a prompt is made from the one before it.
 */
public final class AgenticWorkload implements Workload {
    private final AgenticOptions options;
    private final SessionQueue sessions;
    private final UniformRandomProvider starts;
    private final PriorityQueue<Request> arrivals =
            new PriorityQueue<>(Comparator.comparingLong(Request::arrivalNanos).thenComparingLong(Request::id));
    private final Timetable timetable;
    private final ArrayDeque<Request> followUps = new ArrayDeque<>();
    private final Long2ObjectOpenHashMap<LiveBranch> branchByRequest = new Long2ObjectOpenHashMap<>();
    private final long endNanos;
    private boolean hasStarted;
    private long numRequests;
    private long numPlays;
    private long numConversations;
    private long numPlanned;
    private long numAbandoned;

    /**
     * Opens a folder, an archive or a file with sessions.
     *
     * @throws TraceException if it cannot be read
     */
    public AgenticWorkload(Path path, AgenticOptions options, RandomStreams streams) {
        this.options = options;
        sessions = new SessionQueue(path, options, streams);
        starts = streams.stream("start-of-sessions");
        timetable = new Timetable(options);
        endNanos = Math.round(options.durationSeconds() * 1e9);
    }

    @Override
    public @Nullable Request next() {
        if (!hasStarted) {
            startLanes();
            hasStarted = true;
        }
        return options.isClosedLoop() ? arrivals.poll() : nextByTimestamp();
    }

    private void startLanes() {
        int numLanes = options.lanes() == 0 ? Integer.MAX_VALUE : options.lanes();
        for (int lane = 0; lane < numLanes && begin(lane, 0); lane++) {
            arrivals.addAll(followUps);
            followUps.clear();
        }
    }

    /** Begins the next session in a lane, if there is one. */
    private boolean begin(int lane, long atNanos) {
        var next = atNanos > endNanos ? null : sessions.next(hasStarted || options.lanes() > 0);
        if (next == null) {
            return false;
        }
        long text = options.reusesAcrossPlays() ? next.number() : numPlays;
        var play = new SessionPlay(next.session(), text, numConversations, lane, options.sharesSystemPrompt());
        numPlays++;
        numConversations += play.branches().size();
        double fromSeconds = options.startsAnywhere() && !hasStarted
                ? starts.nextDouble() * next.session().lastStartSeconds()
                : 0;
        if (fromSeconds > 0) {
            play.skipTo(fromSeconds, options.numWarmups());
        }
        numPlanned += play.numTurnsLeft();
        if (options.isClosedLoop()) {
            start(play, atNanos);
        } else {
            timetable.add(play, fromSeconds, atNanos);
        }
        return true;
    }

    private void start(SessionPlay play, long atNanos) {
        var agent = play.agent();
        for (var branch : play.branches()) {
            if (branch != agent && branch.state() == State.GOES_ON) {
                advance(branch, atNanos);
            }
        }
        if (agent.state() == State.IS_DONE) {
            startSubAgents(agent, atNanos);
        } else if (options.hasPrimer() && agent.numTurns() > 0) {
            numPlanned++;
            followUps.add(request(agent, atNanos, agent.prompt(), agent.numTurns(), 1));
        } else {
            agent.setState(State.GOES_ON);
            advance(agent, atNanos);
        }
    }

    private @Nullable Request nextByTimestamp() {
        var entry = timetable.poll();
        if (entry == null || entry.atNanos() > endNanos) {
            numPlanned = numRequests;
            return null;
        }
        var branch = entry.branch();
        var request = nextTurn(branch, entry.atNanos());
        timetable.goOn(entry);
        if (branch.play().numTurnsLeft() == 0) {
            var last = branch.lastTurn();
            begin(branch.play().lane(), entry.atNanos() + options.pauseNanos(last.endSeconds() - last.startSeconds()));
        }
        return request;
    }

    @Override
    public @Nullable Request followUp(Request request, int numOutputTokens, long atNanos) {
        var branch = branchByRequest.remove(request.id());
        if (branch == null) {
            return null;
        }
        if (numOutputTokens == 0) {
            numAbandoned += branch.play().drop(branch);
            finish(branch, atNanos);
        } else {
            advance(branch, atNanos);
        }
        if (branch.play().isOver()) {
            begin(branch.play().lane(), branch.play().endNanos());
        }
        return followUps.poll();
    }

    @Override
    public @Nullable Request anotherFollowUp() {
        return followUps.poll();
    }

    /** Goes on after an answer, or at the start of a branch. */
    private void advance(LiveBranch branch, long atNanos) {
        startSubAgents(branch, atNanos);
        if (branch.numTurnsLeft() == 0) {
            finish(branch, atNanos);
            return;
        }
        long readyNanos = atNanos + options.pauseNanos(branch.play().pauseSeconds(branch));
        if (branch.play().mustWait(branch)) {
            branch.waitFrom(readyNanos);
        } else {
            send(branch, readyNanos);
        }
    }

    private void startSubAgents(LiveBranch parent, long atNanos) {
        for (var branch : parent.play().subAgentsToStart(parent)) {
            branch.setState(State.GOES_ON);
            advance(branch, atNanos);
        }
    }

    private void finish(LiveBranch branch, long atNanos) {
        var play = branch.play();
        branch.setState(State.IS_DONE);
        play.endAt(atNanos);
        var parent = play.parentOf(branch);
        if (parent != null && parent.state() == State.WAITS_FOR_SUB_AGENTS && !play.mustWait(parent)) {
            parent.setState(State.GOES_ON);
            send(parent, Math.max(parent.readyNanos(), atNanos));
        }
    }

    private void send(LiveBranch branch, long atNanos) {
        if (atNanos > endNanos) {
            numPlanned -= branch.play().drop(branch);
            finish(branch, atNanos);
        } else {
            followUps.add(nextTurn(branch, atNanos));
        }
    }

    private Request nextTurn(LiveBranch branch, long atNanos) {
        int numOutput = branch.nextTurn().numOutputTokens();
        return request(branch, atNanos, branch.takePrompt(), branch.numTurns(), numOutput);
    }

    private Request request(LiveBranch branch, long atNanos, SegmentedTokens prompt, int turn, int numOutput) {
        long id = numRequests++;
        if (options.isClosedLoop()) {
            branchByRequest.put(id, branch);
        }
        return Request.of(
                id,
                atNanos,
                new Prompt(prompt, SessionTurn.of(branch.conversation(), turn)),
                options.outputLimit().maxTokens(numOutput, prompt.length(), options.maxModelLen()),
                options.outputLimit().plan(branch.textId(turn), numOutput));
    }

    @Override
    public Optional<String> warning() {
        return sessions.warning();
    }

    @Override
    public OptionalLong total() {
        return OptionalLong.empty();
    }

    @Override
    public long numPlanned() {
        return numPlanned;
    }

    @Override
    public long numAbandoned() {
        return numAbandoned;
    }

    @Override
    public void close() {
        sessions.close();
    }
}
