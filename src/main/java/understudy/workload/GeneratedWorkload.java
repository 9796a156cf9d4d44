package understudy.workload;

import io.soabase.recordbuilder.core.RecordBuilder;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.util.OptionalLong;
import org.apache.commons.rng.UniformRandomProvider;
import org.jspecify.annotations.Nullable;
import understudy.engine.Request;
import understudy.prompt.Prompt;
import understudy.prompt.SegmentedTokens;
import understudy.prompt.Segments;
import understudy.prompt.SessionTurn;

/**
 * Made-up conversations. A session opens with a prefix that its group shares, and a text of its own; every further turn
 * repeats the whole history, the last answer included, and adds a text. One turn and no shared prefix gives
 * independent, unique prompts. The first turns of a group may also share a number of texts, so that equal prompts come
 * again, and a turn may come with a history that was rewritten, from its first token on and as long as before.
 *
 * <p>What a session says depends on the seed and its number alone, not on how fast it is served.
 */
public final class GeneratedWorkload implements Workload {
    private final Options options;
    private final RandomStreams streams;
    private final Arrivals arrivals;
    private final PrefixGroups groups;
    private final UniformRandomProvider turns;
    private final UniformRandomProvider priorities;
    private final UniformRandomProvider tenants;
    private final Long2ObjectOpenHashMap<Session> sessionByRequest = new Long2ObjectOpenHashMap<>();
    private long numRequests;
    private long numPlanned;
    private long numAbandoned;
    private long numSessions;

    /**
     * Options of made-up conversations.
     *
     * @param numRequests all requests of all sessions, at least 1
     * @param rate rate at which sessions begin
     * @param gaps between beginnings
     * @param promptLengths tokens that each turn adds to the prompt
     * @param outputLengths tokens of each answer
     * @param groups prefixes with which sessions open
     * @param turns turns of a session
     * @param rewriteProbability of a further turn that its history was rewritten, 0 to 1
     * @param thinkTimeSeconds from an answer to the next turn, at least 0
     * @param numPriorities sessions draw a priority from 0 to this number, exclusive; at least 1
     * @param numTenants sessions draw one of so many tenants; 1 is no tenant at all
     * @param outputLimit how answers end
     * @param maxModelLen longest sequence in tokens
     */
    @RecordBuilder
    public record Options(
            long numRequests,
            RequestRate rate,
            Gaps gaps,
            WholeNumbers promptLengths,
            WholeNumbers outputLengths,
            PrefixGroups.Options groups,
            WholeNumbers turns,
            double rewriteProbability,
            Distribution thinkTimeSeconds,
            int numPriorities,
            int numTenants,
            OutputLimit outputLimit,
            int maxModelLen) {}

    public GeneratedWorkload(Options options, RandomStreams streams) {
        this.options = options;
        this.streams = streams;
        arrivals = Arrivals.create(options.rate, options.gaps, streams, this::countSessions);
        groups = new PrefixGroups(options.groups, options.promptLengths, options.rate, streams);
        turns = streams.stream("turns");
        priorities = streams.stream("priorities");
        tenants = streams.stream("tenants");
    }

    @Override
    public @Nullable Request next() {
        if (numPlanned == options.numRequests) {
            return null;
        }
        int numTurns = (int) Math.min(options.turns.sample(turns), options.numRequests - numPlanned);
        numPlanned += numTurns;
        long arrivalNanos = arrivals.nextNanos();
        var session = new Session(
                groups.opening(arrivalNanos),
                numTurns,
                numSessions,
                priorities.nextInt(options.numPriorities),
                tenant(),
                streams.stream("session", numSessions));
        numSessions++;
        return turn(session, arrivalNanos);
    }

    @Override
    public @Nullable Request followUp(Request request, int numOutputTokens, long atNanos) {
        var session = sessionByRequest.remove(request.id());
        if (session == null) {
            return null;
        }
        if (numOutputTokens == 0) {
            numAbandoned += session.maxTurns - session.numTurns;
            return null;
        }
        session.history = session.history.append(Segments.ofAnswer(session.textId()), numOutputTokens);
        double thinkSeconds = options.thinkTimeSeconds.sample(session.random);
        return turn(session, atNanos + Math.round(thinkSeconds * 1e9));
    }

    @Override
    public OptionalLong total() {
        return OptionalLong.of(options.numRequests);
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
    public void close() {}

    /** Draws the turns of all sessions once before. */
    private long countSessions() {
        var draws = streams.stream("turns");
        long count = 0;
        for (long left = options.numRequests; left > 0; left -= options.turns.sample(draws)) {
            count++;
        }
        return count;
    }

    private String tenant() {
        return options.numTenants == 1 ? "" : "tenant-" + tenants.nextInt(options.numTenants);
    }

    private Request turn(Session session, long arrivalNanos) {
        session.numTurns++;
        int numNewTokens = options.promptLengths.sample(session.random);
        int numOutput = options.outputLengths.sample(session.random);
        if (session.numTurns > 1 && isRewritten(session)) {
            session.rewriteHistory();
        }
        var prompt = session.numTurns == 1 && options.groups.sharesPrompts()
                ? session.history
                : session.history.append(Segments.ofUniqueText(session.textId()), numNewTokens);
        session.history = prompt;
        long id = numRequests++;
        if (session.numTurns < session.maxTurns) {
            sessionByRequest.put(id, session);
        }
        return Request.of(
                        id,
                        arrivalNanos,
                        new Prompt(prompt, SessionTurn.of(session.number, session.numTurns)),
                        options.outputLimit.maxTokens(numOutput, prompt.length(), options.maxModelLen),
                        options.outputLimit.plan(session.textId(), numOutput))
                .withPriority(session.priority)
                .withHasPriority(options.numPriorities > 1)
                .withTenant(session.tenant);
    }

    /** Draws from a stream of the turn's own, so that all else is as without rewriting. */
    private boolean isRewritten(Session session) {
        return options.rewriteProbability > 0
                && streams.stream("rewrites", session.textId()).nextDouble() < options.rewriteProbability;
    }

    /** A conversation that goes on. */
    private static final class Session {
        private static final long MAX_TURNS = 1 << 20;

        private final long number;
        private final int maxTurns;
        private final int priority;
        private final String tenant;
        private final UniformRandomProvider random;
        private SegmentedTokens history;
        private int numTurns;

        Session(
                SegmentedTokens opening,
                int maxTurns,
                long number,
                int priority,
                String tenant,
                UniformRandomProvider random) {
            this.history = opening;
            this.maxTurns = maxTurns;
            this.number = number;
            this.priority = priority;
            this.tenant = tenant;
            this.random = random;
        }

        void rewriteHistory() {
            history = SegmentedTokens.EMPTY.append(Segments.ofRewrittenHistory(textId()), history.length());
        }

        /** Names the text of the latest turn, whenever it is asked for. */
        long textId() {
            return number * MAX_TURNS + numTurns;
        }
    }
}
