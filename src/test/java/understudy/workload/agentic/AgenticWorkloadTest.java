package understudy.workload.agentic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static understudy.workload.agentic.Sessions.open;
import static understudy.workload.agentic.Sessions.request;
import static understudy.workload.agentic.Sessions.session;
import static understudy.workload.agentic.Sessions.subAgent;
import static understudy.workload.agentic.Sessions.twoTurns;
import static understudy.workload.agentic.Sessions.write;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import understudy.engine.Request;
import understudy.prompt.BlockHasher;
import understudy.prompt.Xxh3BlockHasher;
import understudy.workload.LoadSchedule;
import understudy.workload.Workload;
import understudy.workload.files.TraceException;

/** Sessions of agents as a workload. In these tests an answer takes two seconds, where the recorded one took one. */
final class AgenticWorkloadTest {
    private static final long SECOND = 1_000_000_000L;
    private static final BlockHasher BLOCKS_OF_64 = new Xxh3BlockHasher(64);

    @TempDir
    private Path folder;

    /** The first turn at 0, its answer at 2, and the second turn 10 s after that. */
    @Test
    void closedLoop_sendsATurnItsThinkTimeAfterTheAnswer() throws IOException {
        write(folder, "a.json", twoTurns());

        var played = play();

        assertThat(seconds(played)).containsExactly(0.0, 12.0);
        assertThat(played).extracting(Request::maxTokens).containsExactly(8, 9);
        assertThat(played).extracting(request -> request.prompt().length()).containsExactly(128, 192);
        assertThat(played.get(1).prompt().turn().turn()).isEqualTo(2);
    }

    @Test
    void idleGapCap_shortensPauses() throws IOException {
        write(folder, "a.json", twoTurns());

        assertThat(seconds(play("idle-gap-cap = 3s"))).containsExactly(0.0, 2.0 + 3.0);
    }

    /** By timestamps the second turn is sent 11 s after the first, or after 3 s if gaps are cut to that. */
    @Test
    void timestamps_sendATurnWhenTheTraceSays() throws IOException {
        write(folder, "a.json", twoTurns());

        assertThat(seconds(play("timing = timestamps"))).containsExactly(0.0, 11.0);
        assertThat(seconds(play("timing = timestamps", "idle-gap-cap = 3s"))).containsExactly(0.0, 3.0);
    }

    /**
     * Turn 1 ends at 2. Both sub-agents, whose markers came 1 s and 2 s after the recorded end of 1 s, start at 3 and 4.
     * The first one has two turns, 1 s apart: 3 to 5, 6 to 8; in the trace it ended at 2 + 3.5 + 1 = 6.5, after turn 2 and
     * before turn 3. The second one ended in the trace at 3 + 20 + 1 = 24, after all. Turn 2 goes on 4 s after turn 1, at
     * 6, and ends at 8; turn 3 would be sent 1 s later, at 9.
     */
    @Test
    void subAgents_startInParallel_andTheTurnAfterThemWaits() throws IOException {
        write(folder, "a.json", family());

        assertThat(seconds(play())).containsExactly(0.0, 3.0, 4.0, 6.0, 6.0, 9.0, 24.5);
    }

    private static String family() {
        return session(
                request(0, 0, 64, 1, 1),
                subAgent(2, request(0, 0, 64, 1, 11), request(3.5, 1, 128, 1, 11, 12)),
                subAgent(3, request(0, 0, 64, 1, 21), request(20, 18.5, 128, 1, 21, 22)),
                request(5, 4, 128, 1, 1, 2),
                request(7, 1, 192, 1, 1, 2, 3));
    }

    /** As above, but an answer takes 5 s: the first sub-agent ends at 6 + 5 + 1 + 5 = 17, and turn 3 is due at 15. */
    @Test
    void turnAfterASubAgent_isSentWhenThatHasEnded() throws IOException {
        write(folder, "a.json", family());

        // Turn 1: 0 to 5. Sub-agents: 6 to 11 and 12 to 17; 7 to 12 and 30.5. Turn 2: 9 to 14. Turn 3: max(15, 17).
        assertThat(seconds(play(5))).containsExactly(0.0, 6.0, 7.0, 9.0, 12.0, 17.0, 30.5);
    }

    /** In other releases the times of sub-agents count from the start of the session; here the same session once more. */
    @Test
    void subAgents_mayHaveAbsoluteTimes() throws IOException {
        write(
                folder,
                "a.json",
                session(
                        request(0, 0, 64, 1, 1),
                        subAgent(2, request(2, 0, 64, 1, 11), request(5.5, 1, 128, 1, 11, 12)),
                        subAgent(3, request(3, 0, 64, 1, 21), request(23, 18.5, 128, 1, 21, 22)),
                        request(5, 4, 128, 1, 1, 2),
                        request(7, 1, 192, 1, 1, 2, 3)));

        assertThat(seconds(play(5))).containsExactly(0.0, 6.0, 7.0, 9.0, 12.0, 17.0, 30.5);
    }

    /** Two blocks, then three: a turn begins with the blocks of the one before, and the next session has others. */
    @Test
    void blockIds_areLocalToTheirSession() throws IOException {
        write(folder, "a.json", twoTurns());
        write(folder, "b.json", twoTurns());

        var played = play();

        long[] first = played.get(0).prompt().blockHashes(BLOCKS_OF_64);
        assertThat(played).hasSize(4);
        assertThat(played.get(2).prompt().blockHashes(BLOCKS_OF_64)).hasSize(3).startsWith(first);
        assertThat(played.get(1).prompt().blockHashes(BLOCKS_OF_64)).doesNotContain(first);
    }

    /** Tools and system prompt are 128 tokens, two blocks; the third block is each session's own. */
    @Test
    void sharedSystemPrompt_isTheSameInAllSessions() throws IOException {
        write(folder, "a.json", session(request(0, 0, 192, 8, 1, 2, 3)));
        write(folder, "b.json", session(request(0, 0, 192, 8, 7, 8, 9)));

        var played = play("shared = system-prompt");

        long[] one = played.get(0).prompt().blockHashes(BLOCKS_OF_64);
        long[] other = played.get(1).prompt().blockHashes(BLOCKS_OF_64);
        assertThat(other).startsWith(one[0], one[1]).doesNotContain(one[2]);
    }

    /** Two lanes for three sessions of 2 + 10 + 2 s: the third one starts at 14. */
    @Test
    void lane_goesOnWithTheNextSession() throws IOException {
        for (var name : List.of("a", "b", "c")) {
            write(folder, name + ".json", twoTurns());
        }

        assertThat(seconds(play("lanes = 2"))).containsExactly(0.0, 0.0, 12.0, 12.0, 14.0, 26.0);
    }

    /** One lane plays a session three times, each time with a text of its own, or with the same. */
    @Test
    void plays_recycleSessions() throws IOException {
        write(folder, "a.json", session(request(0, 0, 64, 8, 1)));

        var played = play("lanes = 1", "plays = 3");
        var reused = play("lanes = 1", "plays = 3", "reuse-across-plays = on");

        assertThat(seconds(played)).containsExactly(0.0, 2.0, 4.0);
        assertThat(hashes(played)).hasSize(3).doesNotHaveDuplicates();
        assertThat(hashes(reused)).hasSize(3).containsOnly(hashes(reused).get(0));
    }

    /** Sessions of 2 + 10 + 2 s, again and again: within 30 s two whole ones, and the first turn of a third, at 28. */
    @Test
    void duration_endsRecycling() throws IOException {
        write(folder, "a.json", twoTurns());
        var workload = open(folder, "lanes = 1", "duration = 30s");

        assertThat(seconds(play(workload, 2))).containsExactly(0.0, 12.0, 14.0, 26.0, 28.0);
        assertThat(workload.numPlanned()).isEqualTo(5);
        assertThat(workload.numAbandoned()).isZero();
        var timetable = open(folder, "timing = timestamps", "duration = 5s");
        assertThat(play(timetable, 2)).hasSize(1);
        assertThat(timetable.numPlanned()).isEqualTo(1);
    }

    /**
     * 100 turns a second apart, from a random time on: the primer has the prompt of the turn before, and an answer of one
     * token. The two warm-ups follow without pauses; the others think for as long as they did.
     */
    @Test
    void randomStart_primesAndWarmsUp() throws IOException {
        var turns = new ArrayList<String>();
        for (int i = 0; i < 100; i++) {
            turns.add(request(i * 2, 1, 64 + i, 8, 1));
        }
        write(folder, "a.json", session(turns.toArray(String[]::new)));

        var played = play("start = random", "primer = on", "warmup-requests = 2");

        int primer = played.get(0).prompt().length();
        assertThat(primer).isGreaterThan(64);
        assertThat(played.get(0).maxTokens()).isEqualTo(1);
        assertThat(played.get(1).prompt().length()).isEqualTo(primer + 1);
        assertThat(played.get(1).maxTokens()).isEqualTo(8);
        assertThat(seconds(played)).startsWith(0.0, 2.0, 4.0, 4.0 + 2 + 1);
        assertThat(played.get(played.size() - 1).prompt().length()).isEqualTo(163);
    }

    /** The first turn gets no answer, so that the second, and the sub-agent in between, will never be sent. */
    @Test
    void turnWithoutAnAnswer_endsItsSession() throws IOException {
        write(
                folder,
                "a.json",
                session(request(0, 0, 64, 1, 1), subAgent(2, request(0, 0, 64, 1, 5)), request(9, 1, 64, 1, 1)));
        var workload = open(folder);
        var first = workload.next();

        assertThat(workload.numPlanned()).isEqualTo(3);
        assertThat(workload.followUp(first, 0, SECOND)).isNull();
        assertThat(workload.numAbandoned()).isEqualTo(2);
    }

    @Test
    void badSession_endsTheRunOrIsCounted() throws IOException {
        write(folder, "a.json", twoTurns());
        write(folder, "b.json", "{\"requests\":[\n{\"t\":0,\"in\":0}]}");

        assertThatThrownBy(() -> play())
                .isInstanceOf(TraceException.class)
                .hasMessageContaining("b.json:2: in must be from 1 to");
        var skipping = open(folder, "on-bad-session = skip");
        assertThat(play(skipping, 2)).hasSize(2);
        assertThat(skipping.warning())
                .get()
                .asString()
                .contains("used: 1; the first is")
                .contains("b.json:2");
    }

    @Test
    void folderWithoutSessions_isRefused() {
        assertThatThrownBy(() -> play()).hasMessageContaining("there are no sessions");
    }

    /** Shuffled by the seed: the same seed gives the same order of 20 sessions, and not that of their names. */
    @Test
    void shuffledOrder_isThatOfTheSeed() throws IOException {
        for (int i = 0; i < 20; i++) {
            write(folder, (char) ('a' + i) + ".json", session(request(0, 0, 64 + i, 8, 1)));
        }

        var lengths = play("lanes = 1", "order = shuffled").stream()
                .map(r -> r.prompt().length())
                .toList();

        assertThat(lengths)
                .hasSize(20)
                .doesNotHaveDuplicates()
                .isNotEqualTo(lengths.stream().sorted().toList());
        assertThat(play("lanes = 1", "order = shuffled").stream()
                        .map(r -> r.prompt().length())
                        .toList())
                .isEqualTo(lengths);
    }

    private List<Request> play(String... settings) {
        return play(open(folder, settings), 2);
    }

    private List<Request> play(int answerSeconds) {
        return play(open(folder), answerSeconds);
    }

    /** Answers each request so long after it was sent, and returns all in the order in which they were. */
    private static List<Request> play(Workload workload, int answerSeconds) {
        try (workload) {
            var schedule = new LoadSchedule(workload);
            var sent = new ArrayList<Request>();
            int numEnded = 0;
            while (!schedule.isDone()) {
                long ended = numEnded < sent.size()
                        ? sent.get(numEnded).arrivalNanos() + answerSeconds * SECOND
                        : LoadSchedule.NEVER;
                if (ended <= schedule.nextNanos()) {
                    schedule.onEnded(sent.get(numEnded++).id(), 1, ended);
                } else {
                    sent.add(schedule.pollDue(schedule.nextNanos()));
                }
            }
            return sent;
        }
    }

    private static List<Double> seconds(List<Request> requests) {
        return requests.stream().map(request -> request.arrivalNanos() / 1e9).toList();
    }

    private static List<Long> hashes(List<Request> requests) {
        return requests.stream()
                .map(request -> request.prompt().blockHashes(BLOCKS_OF_64)[0])
                .toList();
    }
}
