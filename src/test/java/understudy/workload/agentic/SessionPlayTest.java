package understudy.workload.agentic;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.workload.agentic.Sessions.request;
import static understudy.workload.agentic.Sessions.session;
import static understudy.workload.agentic.Sessions.subAgent;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import understudy.workload.agentic.LiveBranch.State;

/** Sessions that are entered in the middle: turns before that time are skipped, and the pause is what is left of it. */
final class SessionPlayTest {

    /** The agent has turns at 0, 11 and 40 s, after think times of 10 and 3 s; its sub-agent at 2, 22 and 30 s. */
    private static SessionPlay play() {
        String text = session(
                request(0, 0, 64, 1, 1),
                subAgent(
                        2,
                        request(0, 0, 64, 1, 11),
                        request(20, 7, 128, 1, 11, 12),
                        request(28, 4, 192, 1, 11, 12, 13)),
                request(11, 10, 128, 1, 1, 2),
                request(40, 3, 192, 1, 1, 2, 3));
        var in = new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
        return new SessionPlay(SessionReader.read(new SessionText("a.json", 1, in)), 0, 0, 0, false);
    }

    @Test
    void fromTheStart_pausesAreThinkTimes() {
        var play = play();
        var agent = play.agent();
        agent.takePrompt();

        assertThat(agent.pauseSeconds()).isEqualTo(10);
    }

    /** At 5 s the agent is between its turns at 0 and 11 s, and the sub-agent between those at 2 and 22 s. */
    @Test
    void inTheMiddle_theNextTurnComesWhenTheTraceHasIt_andThoseAfterItAfterTheirThinkTimes() {
        var play = play();
        var agent = play.agent();
        var subAgent = play.branches().get(1);

        play.skipTo(5, 0);

        assertThat(agent.numTurns()).isEqualTo(1);
        assertThat(subAgent.numTurns()).isEqualTo(1);
        assertThat(agent.pauseSeconds()).isEqualTo(11 - 5);
        assertThat(subAgent.pauseSeconds()).isEqualTo(22 - 5);
        assertThat(subAgent.state()).isEqualTo(State.GOES_ON);

        agent.takePrompt();
        subAgent.takePrompt();

        assertThat(agent.pauseSeconds()).isEqualTo(3);
        assertThat(subAgent.pauseSeconds()).isEqualTo(4);
    }

    /** At 1 s the agent has begun, and its sub-agent starts 1 s later, as it would from the start. */
    @Test
    void subAgentThatHasNotBegun_startsAsEver() {
        var play = play();
        var whole = play();

        play.skipTo(1, 0);

        var subAgent = play.branches().get(1);
        assertThat(subAgent.state()).isEqualTo(State.NOT_STARTED);
        assertThat(subAgent.pauseSeconds()).isEqualTo(whole.branches().get(1).pauseSeconds());
    }
}
