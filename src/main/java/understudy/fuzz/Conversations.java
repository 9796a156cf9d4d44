package understudy.fuzz;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.engine.EngineRequest;
import understudy.engine.OutputPlan;
import understudy.engine.Request;
import understudy.engine.SamplingParams;
import understudy.prompt.Prompt;
import understudy.prompt.SegmentedTokens;
import understudy.prompt.SessionTurn;
import understudy.prompt.SyntheticTokens;

/** Requests that have much in common: conversations that begin alike, turns that overlap, and prompts asked twice. */
final class Conversations {
    private static final int MAX_BEGINNING = 2;
    private static final long FIRST_TEXT = 1_000_000;
    private static final long FIRST_ANSWER = 2_000_000;

    private final Dice dice;
    private final int maxTokens;
    private final int maxAdded;
    private final List<Conversation> all = new ArrayList<>();
    private @Nullable Prompt latest;
    private long nextId;

    private static final class Conversation {
        SegmentedTokens tokens = SegmentedTokens.EMPTY;
        String salt = "";
        int numTurns;
    }

    /** Takes the length in tokens from which on a conversation is not continued, and the most that a turn adds. */
    Conversations(Dice dice, int maxTokens, int maxAdded) {
        this.dice = dice;
        this.maxTokens = maxTokens;
        this.maxAdded = maxAdded;
    }

    /** Returns the next request; it may be too long. */
    Request next(long nowNanos) {
        long id = nextId++;
        var prompt = latest == null || !dice.oneIn(4) ? nextTurn(id) : latest;
        latest = prompt;
        int length = dice.oneIn(3) ? dice.between(1, maxAdded) : OutputPlan.ENDLESS;
        var sampling = SamplingParams.ofMaxTokens(dice.between(1, maxAdded));
        var request = Request.of(
                id,
                nowNanos,
                prompt,
                sampling.maxTokens(),
                new OutputPlan(new SyntheticTokens(FIRST_ANSWER + id), length));
        int priority = dice.between(0, 2);
        return request.withPriority(priority).withHasPriority(priority > 0);
    }

    /** Goes on with a conversation, even if its last turn has not ended, or opens one. */
    private Prompt nextTurn(long id) {
        int index = dice.between(0, all.size());
        if (index == all.size() || all.get(index).tokens.length() >= maxTokens) {
            index = all.size();
            all.add(open());
        }
        var conversation = all.get(index);
        conversation.tokens = conversation.tokens.append(FIRST_TEXT + id, dice.between(1, maxAdded));
        conversation.numTurns++;
        return new Prompt(conversation.tokens, "", conversation.salt, SessionTurn.of(index, conversation.numTurns));
    }

    private Conversation open() {
        var opened = new Conversation();
        opened.tokens = SegmentedTokens.EMPTY.append(dice.between(0, MAX_BEGINNING), dice.between(0, maxAdded));
        opened.salt = dice.oneIn(8) ? "salt" : "";
        return opened;
    }

    /** Adds the answer to its conversation. */
    void onEnded(EngineRequest ended) {
        var request = ended.request();
        var conversation = all.get((int) request.prompt().turn().sessionId());
        conversation.tokens = conversation.tokens.append(FIRST_ANSWER + request.id(), ended.numOutputTokens());
    }
}
