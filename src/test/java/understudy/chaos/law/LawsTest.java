package understudy.chaos.law;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import understudy.chaos.evidence.Attempt;
import understudy.chaos.evidence.AttemptBuilder;
import understudy.chaos.evidence.Bounds;
import understudy.chaos.evidence.ClientCall;
import understudy.chaos.evidence.ClientCallBuilder;
import understudy.chaos.evidence.ConnectionSample;
import understudy.chaos.evidence.Evidence;
import understudy.chaos.evidence.EvidenceBuilder;
import understudy.chaos.evidence.Lateness;
import understudy.chaos.evidence.ReplicaPhase;
import understudy.chaos.evidence.ReplicaPhase.State;

/** Times are milliseconds here; the scenario lasts 60 s. Grace 1 s, recovery 3 s, patience 5 s. */
final class LawsTest {
    private static final int END = 60_000;
    private static final List<String> ANSWER = List.of("a", "b", "c", "d");

    private final List<ClientCall> calls = new ArrayList<>();
    private final List<Attempt> attempts = new ArrayList<>();
    private final List<ReplicaPhase> phases = new ArrayList<>();
    private final List<ConnectionSample> connections = new ArrayList<>();
    private final List<Lateness.Stall> stalls = new ArrayList<>();
    private double threadsPerProcessor;
    private boolean isGatewayAlive = true;

    @Test
    void lawsAreFoundByTheirNames() {
        assertThat(Laws.names()).doesNotHaveDuplicates().allMatch(name -> name.matches("[a-z]+(-[a-z]+)*"));
        assertThat(Laws.all())
                .allSatisfy(law -> assertThat(Laws.named(law.name())).isSameAs(law));
        assertThatThrownBy(() -> Laws.named("be-nice"))
                .hasMessageStartingWith("law \"be-nice\" does not exist, use one of calls-end-once, ");
    }

    @Test
    void quietScenarioKeepsAllLaws() {
        calls.add(call("c1", 0, 500).build());
        attempts.add(attempt("c1", "r1", 10, 490).build());
        up("r1", 0, END);
        up("r2", 0, END);
        connections.add(new ConnectionSample(nanos(END), "r1", 2, 0));

        assertThat(Laws.all())
                .allSatisfy(law -> assertThat(law.judge(evidence())).isEmpty());
    }

    @Test
    void callThatOutlastsItsClientHasNoEnd() {
        calls.add(call("c1", 0, 5_000).ending(ClientCall.Ending.TIMED_OUT).build());
        calls.add(
                call("c2", 0, 100).ending(ClientCall.Ending.REFUSED).status(502).build());

        assertThat(broken("calls-end-once")).containsExactly("c1: no end within the client's patience of 5.00 s");
    }

    @Test
    void requestOverAConnectionWithABadCertificateIsOneTooMany() {
        attempts.add(attempt("c1", "r1", 10, 490).connection(3).build());
        attempts.add(attempt("c2", "r1", 20, 490)
                .connection(4)
                .hasBadCertificate(true)
                .build());

        assertThat(broken("certificates-verified"))
                .containsExactly("c2: r1 was sent a request over connection 4, whose certificate does not verify");
    }

    @Test
    void malformedAnswerIsTheGatewaysIfTheReplicaWasWell() {
        malformed("c1", 1_000);
        malformed("c2", 20_000);
        calls.add(call("c3", 20_000, 20_300)
                .ending(ClientCall.Ending.MALFORMED)
                .received(List.of("a", "b", "c", "half"))
                .build());
        attempts.add(attempt("c3", "r1", 20_005, 20_290).build());
        up("r1", 0, 19_000);
        phase("r1", State.FAULTY, 19_000, 21_000);
        up("r1", 21_000, END);

        assertThat(broken("calls-end-once"))
                .containsExactly("c1: answer is malformed, and no replica had a fault then: two ends");
        assertThat(broken("tokens-in-order")).isEmpty();
    }

    private void malformed(String id, int sentMillis) {
        calls.add(call(id, sentMillis, sentMillis + 300)
                .ending(ClientCall.Ending.MALFORMED)
                .error("two ends")
                .build());
        attempts.add(attempt(id, "r1", sentMillis + 5, sentMillis + 290).build());
    }

    @Test
    void tokensAreThoseOfTheAnswerInItsOrder() {
        received("twice", ClientCall.Ending.COMPLETED, "a", "b", "b", "c", "d");
        received("again", ClientCall.Ending.CUT, "a", "b", "a", "b");
        received("swapped", ClientCall.Ending.COMPLETED, "a", "c", "b", "d");
        received("more", ClientCall.Ending.COMPLETED, "a", "b", "c", "d", "d");
        received("less", ClientCall.Ending.COMPLETED, "a", "b", "c");
        received("prefix", ClientCall.Ending.CUT, "a", "b");
        received("error", ClientCall.Ending.ERROR_EVENT, "a");
        received("left", ClientCall.Ending.LEFT_BY_CLIENT, "a");
        received("whole", ClientCall.Ending.COMPLETED, "a", "b", "c", "d");

        assertThat(broken("tokens-in-order"))
                .containsExactly(
                        "twice: token 2 is \"b\" where \"c\" should be; received 5 of 4",
                        "again: token 2 is \"a\" where \"c\" should be; received 4 of 4",
                        "swapped: token 1 is \"c\" where \"b\" should be; received 4 of 4",
                        "more: token 4 is \"d\" where the end should be; received 5 of 4",
                        "less: ended well with 3 of 4 tokens");
    }

    @Test
    void streamThatBrokeDoesNotLookComplete() {
        received("hidden", ClientCall.Ending.COMPLETED, "a", "b");
        attempts.add(attempt("hidden", "r1", 0, 50)
                .ending(Attempt.Ending.BROKEN_BY_FAULT)
                .build());
        received("told", ClientCall.Ending.CUT, "a", "b");
        attempts.add(attempt("told", "r1", 0, 50)
                .ending(Attempt.Ending.BROKEN_BY_FAULT)
                .build());
        // The first attempt broke before its head, and the second one gave the whole answer.
        received("failed-over", ClientCall.Ending.COMPLETED, "a", "b", "c", "d");
        attempts.add(unsent("failed-over", "r1", 0, 5).build());
        attempts.add(attempt("failed-over", "r2", 10, 90).build());

        assertThat(broken("stream-errors-reach-client"))
                .containsExactly("hidden: r1 broke off after 400 bytes, and the client got a complete answer of 2 of 4"
                        + " tokens");
    }

    @Test
    void tokensComeWhileTheReplicaSends() {
        stream("held-1", 995, 990);
        stream("held-2", 995, 990);
        stream("passed-1", 20, 990);
        stream("passed-2", 20, 990);
        // 100 ms are too short to tell, and answers that are not streamed come whole.
        stream("short", 150, 110);
        calls.add(call("whole", 0, 1_000)
                .isStreamed(false)
                .firstTokenNanos(nanos(995))
                .build());
        attempts.add(attempt("whole", "r1", 10, 990).build());
        // 2 of 4 are too few to tell, and 2 of 5 are not most of them.
        assertThat(broken("tokens-stream")).isEmpty();
        stream("passed-3", 20, 990);
        assertThat(broken("tokens-stream")).isEmpty();

        stream("held-3", 995, 990);
        stream("held-4", 995, 990);
        // 4 of 7.
        assertThat(broken("tokens-stream"))
                .hasSize(4)
                .startsWith("held-1: first token came 0.98 s after r1 sent it, behind the end of the stream");
    }

    /** The replica sends from 12 ms on. */
    private void stream(String id, int firstTokenMillis, int endMillis) {
        calls.add(call(id, 0, 1_000).firstTokenNanos(nanos(firstTokenMillis)).build());
        attempts.add(attempt(id, "r1", 10, endMillis).build());
    }

    @Test
    void shareOfWholeAnswersHasABound() {
        // The bound is 0.75: 3 of 4 keep it, 3 of 5 do not; a call that its client left counts neither way.
        for (int i = 0; i < 3; i++) {
            received("c" + i, ClientCall.Ending.COMPLETED, "a", "b", "c", "d");
        }
        received("left", ClientCall.Ending.LEFT_BY_CLIENT);
        received("c3", ClientCall.Ending.REFUSED);
        assertThat(broken("enough-answered")).isEmpty();

        received("c4", ClientCall.Ending.COMPLETED, "a", "b");
        assertThat(broken("enough-answered"))
                .containsExactly("3 of 5 calls were answered whole, 0.60, and the bound is 0.75");
    }

    @Test
    void gatewayThatIsGoneIsSeen() {
        isGatewayAlive = false;

        assertThat(broken("gateway-alive")).containsExactly("the gateway does not answer");
    }

    @Test
    void callsAfterTheRecoveryAreAnswered() {
        up("r1", 0, 10_000);
        phase("r1", State.DEAD, 10_000, 20_000);
        up("r1", 20_000, END);
        // 20 s is the end of the fault, 23 s the end of the recovery.
        calls.add(call("in-time", 22_900, 23_100)
                .ending(ClientCall.Ending.REFUSED)
                .status(502)
                .build());
        calls.add(call("late", 24_000, 24_100)
                .ending(ClientCall.Ending.REFUSED)
                .status(502)
                .build());
        calls.add(call("well", 25_000, 25_100).build());
        calls.add(call("left", 26_000, 26_100)
                .ending(ClientCall.Ending.LEFT_BY_CLIENT)
                .build());

        assertThat(broken("recovers-in-time"))
                .containsExactly("late: sent 4.00 s after the last fault's end, ended as REFUSED with status 502; the"
                        + " bound is 3.00 s");
    }

    @Test
    void faultWithoutEndHasNoRecovery() {
        up("r1", 0, 10_000);
        phase("r1", State.DEAD, 10_000, END);
        calls.add(call("late", 50_000, 50_100)
                .ending(ClientCall.Ending.REFUSED)
                .status(502)
                .build());

        assertThat(broken("recovers-in-time")).isEmpty();
    }

    @Test
    void replicasThatAreNotReadyGetNothingAfterTheGrace() {
        up("r1", 0, 10_000);
        phase("r1", State.DRAINING, 10_000, 10_800);
        phase("r1", State.DEAD, 10_800, 20_000);
        phase("r1", State.STARTING, 20_000, 22_000);
        up("r1", 22_000, END);
        attempts.add(attempt("before", "r1", 9_900, 9_990).build());
        attempts.add(attempt("in-grace", "r1", 10_900, 10_990).build());
        // Drained and died without a pause, so that the grace began at 10 s and ended at 11 s.
        attempts.add(attempt("dead", "r1", 11_500, 11_600).build());
        attempts.add(attempt("starting", "r1", 21_000, 21_100).build());
        attempts.add(attempt("other", "r2", 21_000, 21_100).build());
        attempts.add(attempt("up", "r1", 22_000, 22_100).build());

        assertThat(broken("only-ready-replicas"))
                .containsExactly(
                        "dead: r1 was sent a request 1.50 s after it had ceased to be ready (DEAD); the grace is 1.00 s",
                        "starting: r1 was sent a request 11.00 s after it had ceased to be ready (STARTING); the grace"
                                + " is 1.00 s");
    }

    @Test
    void secondAttemptsAreForAnswersThatHaveNotBegun() {
        attempts.add(unsent("no-byte", "r1", 0, 10).build());
        attempts.add(attempt("no-byte", "r2", 20, 90).build());
        attempts.add(attempt("refused", "r1", 0, 10)
                .status(503)
                .ending(Attempt.Ending.REFUSED)
                .build());
        attempts.add(attempt("refused", "r2", 20, 90).build());
        // Both were asked at once, and the first byte came later.
        attempts.add(
                attempt("hedged", "r1", 0, 90).firstBodyByteNanos(nanos(80)).build());
        attempts.add(attempt("hedged", "r2", 20, 90).build());
        // The gateway gave the first one up while its first byte, of 1.002 s, was under way; of 2 ms, it had been
        // there.
        attempts.add(attempt("crossed", "r1", 1_000, 1_100)
                .ending(Attempt.Ending.LEFT_BY_GATEWAY)
                .build());
        attempts.add(attempt("crossed", "r2", 1_200, 1_300).build());
        attempts.add(attempt("given-up", "r1", 0, 1_200)
                .ending(Attempt.Ending.LEFT_BY_GATEWAY)
                .build());
        attempts.add(attempt("given-up", "r2", 1_200, 1_300).build());
        // Of two answers that broke, the head had come to the client of one, at 0 ms, and of the other it came at 20.
        calls.add(call("begun", 0, 90).build());
        calls.add(call("lost", 20, 90).build());
        attempts.add(attempt("lost", "r1", 0, 10)
                .ending(Attempt.Ending.BROKEN_BY_FAULT)
                .build());
        attempts.add(attempt("lost", "r2", 20, 90).build());
        attempts.add(attempt("begun", "r1", 0, 10)
                .ending(Attempt.Ending.BROKEN_BY_FAULT)
                .build());
        attempts.add(attempt("begun", "r2", 20, 90).build());
        attempts.add(attempt("begun", "r3", 30, 90).build());

        assertThat(broken("retries-only-unsent"))
                .containsExactly(
                        "begun: sent to r2 after r1 had begun an answer of 400 bytes",
                        "begun: sent to r3 after r1 had begun an answer of 400 bytes",
                        "given-up: sent to r2 after r1 had begun an answer of 400 bytes");
    }

    @Test
    void refusedReplicaIsLeftAloneForAsLongAsItSays() {
        refusal("c1", "r1", 1_000, 3);
        attempts.add(attempt("in-flight", "r1", 1_200, 1_300).build());
        attempts.add(attempt("elsewhere", "r2", 2_000, 2_100).build());
        // It said 3 s at 1.01 s: 2.99 s are too soon by 1 s, and 3.09 s are not.
        attempts.add(attempt("too-soon", "r1", 3_010, 3_100).build());
        attempts.add(attempt("waited", "r1", 4_100, 4_200).build());

        assertThat(broken("retry-after-honoured"))
                .containsExactly("too-soon: r1 was sent a request 2.00 s after it had said Retry-After: 3");
    }

    /** Each comes 0.2 s after the last refusal, which is less than the 0.25 s for what is under way, and 0.39 s after the first. */
    @Test
    void whoAsksAgainAndAgain_isNotUnderWay() {
        refusal("first", "r1", 1_000, 3);
        refusal("second", "r1", 1_200, 3);
        refusal("third", "r1", 1_400, 3);

        assertThat(broken("retry-after-honoured"))
                .containsExactly("third: r1 was sent a request 0.39 s after it had said Retry-After: 3");
    }

    @Test
    void clientThatIsRefusedIsToldHowLongToWait() {
        refusal("told", "r1", 1_000, 2);
        calls.add(refused("told", 429).retryAfterSeconds(OptionalLong.of(2)).build());
        refusal("not-told", "r2", 1_000, 2);
        calls.add(refused("not-told", 502).build());
        // The second replica failed in another way, of which nothing is known.
        refusal("other", "r3", 1_000, 2);
        attempts.add(unsent("other", "r4", 1_100, 1_200).build());
        calls.add(refused("other", 502).build());

        assertThat(broken("retry-after-honoured"))
                .containsExactly("not-told: refused with status 502 and without the replica's Retry-After");
    }

    private ClientCallBuilder refused(String id, int status) {
        return call(id, 1_000, 1_100)
                .ending(ClientCall.Ending.REFUSED)
                .status(status)
                .received(List.of());
    }

    private void refusal(String id, String replica, int acceptedMillis, long retryAfter) {
        attempts.add(attempt(id, replica, acceptedMillis, acceptedMillis + 10)
                .status(429)
                .retryAfterSeconds(OptionalLong.of(retryAfter))
                .ending(Attempt.Ending.REFUSED)
                .build());
    }

    @Test
    void prefixesAreFoundWhereTheyAre() {
        up("r1", 0, END);
        up("r2", 0, END);
        turn("c1", "r1", 0, 0, 100);
        turn("c2", "r1", 1_000, 96, 200);
        turn("c3", "r2", 2_000, 0, 300);
        // Best: 100 of c1 for c2, 200 of c2 for c3. Found: 96 of 300, and the bound is 0.5.
        assertThat(broken("prefix-affinity"))
                .containsExactly("96 of 300 prompt tokens that could be cached were, 0.32, and the bound is 0.50");

        turn("c4", "r2", 3_000, 288, 400);
        // Now 96 + 288 of 300 + 300.
        assertThat(broken("prefix-affinity")).isEmpty();
    }

    @Test
    void prefixesThatAreGoneAreNotAskedFor() {
        up("r1", 0, 500);
        phase("r1", State.DEAD, 500, 900);
        up("r1", 900, END);
        turn("c1", "r1", 0, 0, 100);
        turn("c2", "r1", 1_000, 0, 200);

        assertThat(broken("prefix-affinity")).isEmpty();
    }

    private void turn(String id, String replica, int atMillis, int cachedTokens, int promptTokens) {
        calls.add(call(id, atMillis, atMillis + 100).session("s").build());
        attempts.add(attempt(id, replica, atMillis, atMillis + 100)
                .cachedTokens(cachedTokens)
                .promptTokens(promptTokens)
                .build());
    }

    @Test
    void loadIsBalancedWhileAllServe() {
        up("r1", 0, END);
        up("r2", 0, 20_000);
        phase("r2", State.DEAD, 20_000, 30_000);
        up("r2", 30_000, END);
        spread("r1", 12, 1_000);
        spread("r2", 8, 1_000);
        // While r2 is dead, and in the grace after it, all go to r1.
        spread("r1", 100, 20_000);
        spread("r1", 20, 30_500);
        // 12 of 20 are 1.2 times the mean of 10, and the bound is 1.25.
        assertThat(broken("load-balanced")).isEmpty();

        spread("r1", 2, 40_000);
        // 14 of 22 are 1.27 times the mean of 11.
        assertThat(broken("load-balanced"))
                .containsExactly("r1 got 14 of 22 requests, 1.27 times the mean, and the bound is 1.25");
    }

    @Test
    void fewRequestsSayNothingOfTheBalance() {
        up("r1", 0, END);
        up("r2", 0, END);
        spread("r1", 19, 1_000);

        assertThat(broken("load-balanced")).isEmpty();
    }

    private void spread(String replica, int count, int fromMillis) {
        IntStream.range(0, count)
                .forEach(i -> attempts.add(attempt("", replica, fromMillis + i, fromMillis + i + 50)
                        .build()));
    }

    @Test
    void nothingStaysOpenAfterTheLoad() {
        connections.add(new ConnectionSample(nanos(30_000), "r1", 90, 80));
        calls.add(call("last", 30_000, 50_000).build());
        connections.add(new ConnectionSample(nanos(50_000), "r1", 90, 80));
        // A probe is under way in one of the two.
        after(51_000, "r1", 5, 1);
        after(END, "r1", 4, 0);
        after(51_000, "r2", 5, 0);
        after(END, "r2", 6, 0);
        after(51_000, "r3", 9, 7);
        after(END, "r3", 3, 1);

        assertThat(broken("no-connection-leak"))
                .containsExactly(
                        "r2 has 0 requests in flight and 5 idle connections after the load; the bound is 0 and 4",
                        "r3 has 1 requests in flight and 2 idle connections after the load; the bound is 0 and 4");
    }

    private void after(int atMillis, String replica, int numOpen, int numInFlight) {
        connections.add(new ConnectionSample(nanos(atMillis), replica, numOpen, numInFlight));
    }

    @Test
    void clientThatLeavesEndsItsRequest() {
        left("ended", 1_000);
        attempts.add(attempt("ended", "r1", 10, 1_500)
                .ending(Attempt.Ending.LEFT_BY_GATEWAY)
                .build());
        left("goes-on", 1_000);
        attempts.add(attempt("goes-on", "r1", 10, 3_000).build());
        left("open", 1_000);
        attempts.add(attempt("open", "r1", 10, -1).ending(Attempt.Ending.OPEN).build());

        assertThat(broken("aborts-reach-replicas"))
                .containsExactly(
                        "goes-on: r1 went on for 2.00 s after the client had left, and ended as COMPLETED; the grace is"
                                + " 1.00 s",
                        "open: r1 went on for 59.00 s after the client had left, and ended as OPEN; the grace is 1.00 s");
    }

    /** Of each pair, the lateness explains the first, and is too little for the second, which is 0.1 s later. */
    @Test
    void timesDoNotCountWhatTheMachineWasLate() {
        late(10_500, 10_900);
        up("r1", 0, 10_000);
        phase("r1", State.DEAD, 10_000, 20_000);
        up("r1", 20_000, END);
        // 1.35 s less 0.4 s are within the grace of 1 s.
        attempts.add(attempt("explained", "r1", 11_350, 11_400).build());
        attempts.add(attempt("dead", "r1", 11_450, 11_500).build());
        // 3.3 s less 0.4 s are within the recovery of 3 s.
        late(20_500, 20_900);
        calls.add(refused("unsettled", 502).sentNanos(nanos(23_350)).build());
        calls.add(refused("never-settled", 502).sentNanos(nanos(23_450)).build());
        left("left", 30_000);
        late(30_500, 30_900);
        attempts.add(attempt("left", "r2", 29_900, 31_350).build());
        attempts.add(attempt("left", "r2", 29_900, 31_450).build());
        // 0.6 s less 0.4 s are within the 0.25 s for what is under way.
        refusal("refused", "r2", 40_000, 3);
        late(40_100, 40_500);
        attempts.add(attempt("under-way", "r2", 40_610, 40_700).build());
        attempts.add(attempt("too-soon", "r2", 40_710, 40_800).build());

        assertThat(broken("only-ready-replicas")).singleElement().asString().startsWith("dead: r1 was sent");
        assertThat(broken("recovers-in-time")).singleElement().asString().startsWith("never-settled: sent 3.45 s");
        assertThat(broken("aborts-reach-replicas"))
                .singleElement()
                .asString()
                .startsWith("left: r2 went on for 1.45 s");
        assertThat(broken("retry-after-honoured")).singleElement().asString().startsWith("too-soon: r2 was sent");
    }

    @Test
    void lateMachineLeavesALawInDoubtThatDependsOnTime() {
        isGatewayAlive = false;
        received("less", ClientCall.Ending.COMPLETED, "a");
        // In the second from 1 s on, 0.26 s are lost: one hundredth more than the bound.
        late(1_000, 1_130);
        late(1_800, 1_930);

        var alive = Verdict.of(Laws.named("gateway-alive"), evidence());
        assertThat(alive.isKept()).isFalse();
        assertThat(alive.isBroken()).isFalse();
        assertThat(alive.doubt()).isEqualTo("this machine was late by 0.26 s of 60.00 s");
        // A token that is missing is so on any machine, and what was kept was kept.
        assertThat(Verdict.of(Laws.named("tokens-in-order"), evidence()).isBroken())
                .isTrue();
        assertThat(Verdict.of(Laws.named("load-balanced"), evidence()).isInDoubt())
                .isFalse();
    }

    @Test
    void machineThatIsHardlyLateLeavesNoDoubt() {
        isGatewayAlive = false;
        // Any second has at most one of them.
        late(1_000, 1_250);
        late(2_000, 2_250);

        assertThat(Verdict.of(Laws.named("gateway-alive"), evidence()).isBroken())
                .isTrue();
    }

    /** Of threads of which more than five share a processor, each runs at less than a fifth of its speed. */
    @Test
    void crowdedMachineLeavesALawInDoubtThatDependsOnTime() {
        isGatewayAlive = false;
        late(1_000, 1_010);
        threadsPerProcessor = 5;
        assertThat(Verdict.of(Laws.named("gateway-alive"), evidence()).isBroken())
                .isTrue();

        threadsPerProcessor = 5.25;
        assertThat(Verdict.of(Laws.named("gateway-alive"), evidence()).doubt())
                .isEqualTo("this machine was late by 0.01 s of 60.00 s,"
                        + " and 5.25 threads wanted each processor in some second");
    }

    private void late(int fromMillis, int toMillis) {
        stalls.add(new Lateness.Stall(nanos(fromMillis), nanos(toMillis)));
    }

    private void left(String id, int endMillis) {
        calls.add(
                call(id, 0, endMillis).ending(ClientCall.Ending.LEFT_BY_CLIENT).build());
    }

    private List<String> broken(String law) {
        return Laws.named(law).judge(evidence()).stream()
                .peek(breach -> assertThat(breach.law()).isEqualTo(law))
                .map(breach -> (breach.callId().isEmpty() ? "" : breach.callId() + ": ") + breach.reason())
                .toList();
    }

    private Evidence evidence() {
        var bounds = new Bounds(nanos(1_000), nanos(3_000), nanos(5_000), 1.25, 0.5, 4, 0.75);
        return EvidenceBuilder.builder()
                .scenario("scenario")
                .bounds(bounds)
                .durationNanos(nanos(END))
                .replicas(List.of("r1", "r2"))
                .calls(calls)
                .attempts(attempts)
                .phases(phases)
                .connections(connections)
                .isGatewayAlive(isGatewayAlive)
                .lateness(new Lateness(stalls, threadsPerProcessor))
                .build();
    }

    private void received(String id, ClientCall.Ending ending, String... tokens) {
        calls.add(call(id, 0, 100).ending(ending).received(List.of(tokens)).build());
    }

    private static ClientCallBuilder call(String id, int sentMillis, int endMillis) {
        return ClientCallBuilder.builder()
                .id(id)
                .session("")
                .tenant("")
                .isStreamed(true)
                .sentNanos(nanos(sentMillis))
                .headNanos(nanos(sentMillis))
                .firstTokenNanos(nanos(sentMillis))
                .endNanos(nanos(endMillis))
                .status(200)
                .retryAfterSeconds(OptionalLong.empty())
                .ending(ClientCall.Ending.COMPLETED)
                .expected(ANSWER)
                .received(ANSWER)
                .error("");
    }

    /** Its body begins 2 ms after its head came, and has 400 bytes. */
    private static AttemptBuilder attempt(String id, String replica, int acceptedMillis, int endMillis) {
        return AttemptBuilder.builder()
                .callId(id)
                .replica(replica)
                .acceptedNanos(nanos(acceptedMillis))
                .firstBodyByteNanos(nanos(acceptedMillis + 2))
                .endNanos(nanos(endMillis))
                .status(200)
                .retryAfterSeconds(OptionalLong.empty())
                .bodyBytes(400)
                .cachedTokens(-1)
                .promptTokens(-1)
                .ending(Attempt.Ending.COMPLETED);
    }

    private static AttemptBuilder unsent(String id, String replica, int acceptedMillis, int endMillis) {
        return attempt(id, replica, acceptedMillis, endMillis)
                .status(0)
                .firstBodyByteNanos(-1)
                .bodyBytes(0)
                .ending(Attempt.Ending.BROKEN_BY_FAULT);
    }

    private void up(String replica, int fromMillis, int toMillis) {
        phase(replica, State.UP, fromMillis, toMillis);
    }

    private void phase(String replica, State state, int fromMillis, int toMillis) {
        phases.add(
                new ReplicaPhase(replica, state, state == State.UP ? "" : "fault", nanos(fromMillis), nanos(toMillis)));
    }

    private static long nanos(int millis) {
        return millis < 0 ? -1 : millis * 1_000_000L;
    }
}
