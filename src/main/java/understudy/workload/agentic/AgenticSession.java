package understudy.workload.agentic;

import it.unimi.dsi.fastutil.longs.LongImmutableList;
import java.util.List;

/**
 * Recorded session of an agent.
 *
 * @param blockSize prompt tokens that one block id stands for
 * @param isGlobal whether equal ids stand for equal tokens in all sessions, and not in this one alone
 * @param branches the agent, and then its sub-agents
 */
record AgenticSession(int blockSize, boolean isGlobal, List<Branch> branches) {

    /**
     * Agent or sub-agent: turns that follow one another.
     *
     * @param parent index of the branch that it starts from, or -1 for the agent itself
     * @param numTurnsBefore turns of that branch before it starts
     * @param joiningTurn index of that branch's first turn that began after all of this one's had ended, and so waits for
     *     them; or {@link Integer#MAX_VALUE} if none did
     * @param delaySeconds from the end of the turn before it to its first turn
     * @param numSystemTokens tools and system prompt, with which its first prompt begins
     * @param turns at least one, but for an agent that only has sub-agents
     */
    record Branch(
            int parent,
            int numTurnsBefore,
            int joiningTurn,
            double delaySeconds,
            int numSystemTokens,
            List<Turn> turns) {}

    /**
     * Request and answer.
     *
     * @param startSeconds when the request was sent, from the start of the session
     * @param endSeconds when its answer was complete
     * @param thinkSeconds from the end of the turn before it to this one
     * @param numPromptTokens at least 1
     * @param numOutputTokens at least 1
     * @param numShared how many blocks it has in common with the turn before it, from the first on
     * @param moreIds ids of the other blocks
     */
    record Turn(
            double startSeconds,
            double endSeconds,
            double thinkSeconds,
            int numPromptTokens,
            int numOutputTokens,
            int numShared,
            LongImmutableList moreIds) {

        int numIds() {
            return numShared + moreIds.size();
        }

        /** Returns this turn so much later, and with the pause before it if nothing was recorded of that. */
        Turn shifted(double seconds, double previousEndSeconds) {
            double start = startSeconds + seconds;
            double think = Double.isNaN(thinkSeconds) ? Math.max(0, start - previousEndSeconds) : thinkSeconds;
            return new Turn(start, endSeconds + seconds, think, numPromptTokens, numOutputTokens, numShared, moreIds);
        }
    }

    int numTurns() {
        return branches.stream().mapToInt(branch -> branch.turns.size()).sum();
    }

    /** Returns when the last request was sent. */
    double lastStartSeconds() {
        return branches.stream()
                .flatMap(branch -> branch.turns.stream())
                .mapToDouble(Turn::startSeconds)
                .max()
                .orElse(0);
    }
}
