package understudy.kvcache.session;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.kvcache.PrefixCacheEvent.CONVERSATIONAL_HIT;
import static understudy.kvcache.PrefixCacheEvent.CONVERSATIONAL_MISS_UNEXPECTED_PROMPT;
import static understudy.kvcache.PrefixCacheEvent.CROSS_REQUEST_HIT;
import static understudy.kvcache.PrefixCacheEvent.FULL_HIT_NO_PREFILL_NEEDED;
import static understudy.kvcache.PrefixCacheEvent.MISS_FULL;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import understudy.kvcache.Admission;
import understudy.kvcache.AdmissionRequest;
import understudy.kvcache.FullHit;
import understudy.kvcache.KvBlocks;
import understudy.kvcache.PrefixCacheEvent;
import understudy.kvcache.PrefixCacheEvents;
import understudy.kvcache.PrefixLookup;
import understudy.kvcache.Reservation;
import understudy.kvcache.Settlement;
import understudy.prompt.BlockHasher;
import understudy.prompt.Prompt;
import understudy.prompt.SegmentedTokens;
import understudy.prompt.SessionTurn;
import understudy.prompt.SyntheticTokens;
import understudy.prompt.Xxh3BlockHasher;

/** The session cache and its global prefix store. Blocks of 4 tokens; a prompt is one or more pieces of text. */
final class SessionKvCacheTest {
    private static final int NO_LIMIT = 1_000_000;
    private static final long SYSTEM = 500;
    private static final BlockHasher HASHER = new Xxh3BlockHasher(4);
    private static final SegmentedTokens HELLO = SegmentedTokens.EMPTY.append(1, 10);
    private static final SegmentedTokens HELLO_ANSWERED = HELLO.append(-1, 5);

    private SessionMode mode = SessionMode.DETAILED;
    private FullHit fullHit = FullHit.DECODE_DIRECTLY;
    private BlockHasher hasher = HASHER;
    private GlobalPrefixLimits limits = new GlobalPrefixLimits(8, 2, 1_000);
    private SessionKvCache memory = memory(100);
    private long nowNanos;

    @Test
    void endedTurn_isKeptWithAllItsFields() {
        turn(7, 1, HELLO, 5);

        // 10 tokens of prompt and 5 of answer, ended at the 2nd nanosecond.
        assertThat(memory.session(7)).isEqualTo(new SessionCacheInfo(7, 15, 10, 5, 1, 0, 2));
        assertThat(memory.usage()).as("what is only cached counts as free").isZero();
    }

    @ParameterizedTest
    @EnumSource(
            value = SessionMode.class,
            names = {"SIMPLIFIED", "DETAILED"})
    void followUp_goesOnFromTheWholeSessionToTheToken(SessionMode anyMode) {
        mode = anyMode;
        memory = memory(100);
        turn(7, 1, HELLO, 5);

        assertThat(ask(0, prompt(7, 2, HELLO_ANSWERED.append(2, 3)))).isEqualTo(admitted(15, 3, CONVERSATIONAL_HIT));
    }

    @Test
    void followUp_thatIsNotLongerThanTheSession_isUnexpected() {
        turn(7, 1, HELLO, 5);

        assertThat(ask(0, prompt(7, 2, HELLO_ANSWERED)))
                .isEqualTo(admitted(0, 15, CONVERSATIONAL_MISS_UNEXPECTED_PROMPT, MISS_FULL));
    }

    @Test
    void followUp_withOtherWords_isUnexpected() {
        turn(7, 1, HELLO, 5);

        var other = SegmentedTokens.EMPTY.append(1, 10).append(99, 20);
        assertThat(ask(0, prompt(7, 2, other)))
                .isEqualTo(admitted(0, 30, CONVERSATIONAL_MISS_UNEXPECTED_PROMPT, MISS_FULL));
    }

    @Test
    void followUp_ofASessionThatIsNotHere_isAMiss() {
        assertThat(ask(0, prompt(8, 2, HELLO))).isEqualTo(admitted(0, 10, MISS_FULL));
    }

    @Test
    void abortedTurn_leavesTheSessionAsItWas() {
        turn(7, 1, HELLO, 5);
        ask(0, prompt(7, 2, HELLO_ANSWERED.append(2, 3)));
        memory.free(0, 1);

        assertThat(memory.session(7).associatedTurn()).isEqualTo(1);
        assertThat(memory.audit().isConserved()).isTrue();
    }

    @ParameterizedTest
    @EnumSource(
            value = SessionMode.class,
            names = {"SIMPLIFIED", "DETAILED"})
    void slidingWindow_keepsWhatIsLeftOfTheSession(SessionMode anyMode) {
        mode = anyMode;
        memory = memory(100);
        turn(7, 1, HELLO, 5);

        // The first 4 of 15 tokens are left out: 11 go on, and 3 are new.
        var truncated = prompt(7, 2, HELLO_ANSWERED.append(2, 3)).withoutFirst(4);
        assertThat(ask(0, truncated)).isEqualTo(admitted(11, 3, CONVERSATIONAL_HIT));
        end(0, truncated, 2);
        // The third turn leaves out 8 of 15 + 3 + 2 + 1: of 16 tokens kept from the second turn, 12 go on.
        var longer = HELLO_ANSWERED.append(2, 3).append(-2, 2).append(3, 1);
        assertThat(ask(0, prompt(7, 3, longer).withoutFirst(8))).isEqualTo(admitted(12, 1, CONVERSATIONAL_HIT));
        assertThat(memory.audit().isConserved()).isTrue();
    }

    @Test
    void windowThatSlidesBack_findsNothing() {
        turn(7, 1, HELLO, 5);
        var truncated = prompt(7, 2, HELLO_ANSWERED.append(2, 3)).withoutFirst(4);
        ask(0, truncated);
        end(0, truncated, 2);

        // What was forgotten has to be prefilled once more.
        var whole = HELLO_ANSWERED.append(2, 3).append(-2, 2).append(3, 1);
        assertThat(ask(0, prompt(7, 3, whole)))
                .isEqualTo(admitted(0, 21, CONVERSATIONAL_MISS_UNEXPECTED_PROMPT, MISS_FULL));
    }

    @ParameterizedTest
    @EnumSource(
            value = SessionMode.class,
            names = {"SIMPLIFIED", "DETAILED"})
    void sharedPrefix_isHitOnceEnoughRequestsHaveBegunWithIt(SessionMode anyMode) {
        mode = anyMode;
        memory = memory(100);

        assertThat(ask(0, single(SYSTEM, 10, 21))).isEqualTo(admitted(0, 13, MISS_FULL));
        assertThat(ask(1, single(SYSTEM, 10, 22))).isEqualTo(admitted(0, 13, MISS_FULL));
        // 10 tokens are shared, 2 full blocks.
        assertThat(ask(2, single(SYSTEM, 10, 23))).isEqualTo(admitted(8, 5, CROSS_REQUEST_HIT));
        assertThat(memory.audit().isConserved()).isTrue();
    }

    @Test
    void prefixBelowTheMinimum_isNotStored() {
        limits = new GlobalPrefixLimits(12, 2, 1_000);
        memory = memory(100);

        for (int handle = 0; handle < 3; handle++) {
            assertThat(ask(handle, single(SYSTEM, 10, 21 + handle))).isEqualTo(admitted(0, 13, MISS_FULL));
        }
    }

    @Test
    void references_areCountedAndKeepAPrefixFromEviction() {
        limits = new GlobalPrefixLimits(8, 1, 8);
        memory = memory(100);
        ask(0, SYSTEM, 8);
        ask(1, SYSTEM, 8);
        var stored = memory.prefixes().find(new Prompt(tokens(SYSTEM, 8)).blockHashes(HASHER));

        assertThat(stored.referenceCount()).as("1 found it, 0 brought it in").isEqualTo(1);
        ask(2, 501, 8);
        assertThat(memory.prefixes().numTokens()).as("no room for another one").isEqualTo(8);
        memory.free(1, 0);
        assertThat(stored.referenceCount()).isZero();
        ask(3, 502, 8);
        assertThat(ask(4, 502, 8)).isEqualTo(admitted(8, 1, CROSS_REQUEST_HIT, FULL_HIT_NO_PREFILL_NEEDED));
        assertThat(ask(5, SYSTEM, 8)).isEqualTo(admitted(0, 8, MISS_FULL));
    }

    @Test
    void fullStore_dropsWhatWasUsedLongestAgo() {
        limits = new GlobalPrefixLimits(8, 1, 16);
        memory = memory(100);
        use(SYSTEM);
        use(501);
        use(SYSTEM);
        use(502);

        assertThat(ask(0, SYSTEM, 8)).isEqualTo(admitted(8, 1, CROSS_REQUEST_HIT, FULL_HIT_NO_PREFILL_NEEDED));
        assertThat(ask(1, 501, 8)).isEqualTo(admitted(0, 8, MISS_FULL));
    }

    @Test
    void fullHit_recomputesTheLastTokenIfAsked() {
        fullHit = FullHit.RECOMPUTE_LAST_TOKEN;
        limits = new GlobalPrefixLimits(8, 1, 16);
        memory = memory(100);
        use(SYSTEM);

        assertThat(ask(0, SYSTEM, 8)).isEqualTo(admitted(7, 1, CROSS_REQUEST_HIT));
    }

    /**
     * 3 blocks of 4 tokens: the stored prefix has 2, of which a request for the same 8 tokens shares the first and computes
     * the second again, in the third. An answer of 5 needs one more, with nothing but the prefix to take it from.
     */
    @Test
    void prefixInUse_givesItsLastBlockInNeed() {
        fullHit = FullHit.RECOMPUTE_LAST_TOKEN;
        limits = new GlobalPrefixLimits(8, 1, 16);
        memory = memory(3);
        use(SYSTEM);
        ask(0, SYSTEM, 8);

        end(0, new Prompt(tokens(SYSTEM, 8)), 5);

        assertThat(memory.prefixes().numTokens()).isZero();
        assertThat(memory.audit().isConserved()).isTrue();
    }

    @Test
    void sessionUpdatedLongestAgo_givesWayToRequests() {
        memory = memory(8);
        turn(1, 1, tokens(1, 12), 4);
        turn(2, 1, tokens(2, 12), 4);

        // Two sessions of 16 tokens fill 8 blocks; a prompt of 15 tokens takes 4.
        ask(0, 99, 15);

        assertThat(memory.session(1)).isNull();
        assertThat(memory.session(2)).isNotNull();
        assertThat(memory.audit().isConserved()).isTrue();
    }

    @Test
    void simplified_countsASharedBlockOnce_detailedCopiesThePartlyFilledOne() {
        for (var each : new SessionMode[] {SessionMode.SIMPLIFIED, SessionMode.DETAILED}) {
            mode = each;
            memory = memory(5);
            turn(7, 1, HELLO, 5);

            ask(0, prompt(7, 2, HELLO_ANSWERED.append(2, 3)));

            // 18 tokens are 5 blocks, which is all there is. Counted once, the session's 4 blocks and a new one do.
            // With
            // ids, 3 are shared and 2 are new, and the session has to give up its copy of the fourth.
            assertThat(memory.usage()).isEqualTo(1);
            assertThat(memory.session(7) != null).isEqualTo(each == SessionMode.SIMPLIFIED);
            assertThat(memory.audit().isConserved()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = SessionMode.class,
            names = {"SIMPLIFIED", "DETAILED"})
    void conversation_keepsTheBlocksOfAllItsTurns(SessionMode anyMode) {
        mode = anyMode;
        memory = memory(100);
        turn(7, 1, HELLO, 5);
        // 15 tokens, 14 of them computed: 4 blocks.
        assertThat(memory.audit().numHashed()).isEqualTo(4);

        turn(7, 2, HELLO_ANSWERED.append(2, 3), 12);

        // 30 tokens, 29 of them computed: 8 blocks, and nothing is left of the turn before.
        assertThat(memory.audit().numHashed()).isEqualTo(8);
    }

    /**
     * 12 blocks of 4 tokens: the first session has 15 tokens in 4 blocks, the second one as many, and the first one's second
     * turn makes it 19 tokens in 5. A prompt of 20 tokens needs 5 blocks, and 3 are free.
     */
    @ParameterizedTest
    @EnumSource(
            value = SessionMode.class,
            names = {"SIMPLIFIED", "DETAILED"})
    void fullMemory_dropsTheSessionThatWasUpdatedLongestAgo(SessionMode anyMode) {
        mode = anyMode;
        memory = memory(12);
        turn(1, 1, HELLO, 5);
        turn(2, 1, HELLO, 5);
        turn(1, 2, HELLO_ANSWERED.append(2, 3), 1);

        ask(0, 900, 20);

        assertThat(memory.session(2)).isNull();
        assertThat(memory.session(1)).isNotNull();
    }

    @Test
    void lastTokenOfAnAnswer_hasNoBlockOfItsOwn() {
        hasher = new Xxh3BlockHasher(1);
        memory = memory(100);
        turn(7, 1, HELLO, 5);

        // Of 15 tokens 14 are computed and have a block each. The follow-up shares these, and takes 4 for the other 18
        // - 14.
        assertThat(ask(0, prompt(7, 2, HELLO_ANSWERED.append(2, 3)))).isEqualTo(admitted(15, 3, CONVERSATIONAL_HIT));
        assertThat(memory.blockCounts().numUsed()).isEqualTo(18);
        assertThat(memory.audit().isConserved()).isTrue();
    }

    /**
     * 5 blocks of 4 tokens, of which the session has 4. The follow-up leaves out 8 of its 15 tokens, but the session stays whole
     * as long as somebody goes on from it: 2 of its blocks are shared, and 3 more for 18 tokens are not there.
     */
    @Test
    void simplified_whereTheSessionLeavesNoRoom_aloneItStartsAnew() {
        mode = SessionMode.SIMPLIFIED;
        memory = memory(5);
        turn(7, 1, HELLO, 5);
        var truncated = prompt(7, 2, HELLO_ANSWERED.append(2, 11)).withoutFirst(8);

        assertThat(ask(0, truncated, true)).as("others may end").isEqualTo(new Admission.Refused());
        assertThat(ask(0, truncated)).isEqualTo(admitted(0, 18, MISS_FULL));
        assertThat(memory.session(7)).isNull();
        assertThat(memory.audit().isConserved()).isTrue();
    }

    /**
     * 6 blocks of 4 tokens, of which the session has 4. Chunks of 4 tokens are admitted beside it, but with 23 tokens in the end,
     * 6 blocks of which 2 are shared, the request would run out of the 2 that are left; so it has been preempted, and alone.
     */
    @Test
    void simplified_requestThatWouldRunOutAgain_aloneStartsAnew() {
        mode = SessionMode.SIMPLIFIED;
        memory = memory(6);
        turn(7, 1, HELLO, 5);
        var truncated = prompt(7, 2, HELLO_ANSWERED.append(2, 11)).withoutFirst(8);
        var lookup = new PrefixLookup(0, truncated, new SyntheticTokens(-answerOf(truncated)), 18, true);

        assertThat(memory.admit(AdmissionRequest.of(lookup, 4, 23)
                        .withReserveFullSequence(false)
                        .withAtNanos(++nowNanos)))
                .isEqualTo(admitted(7, 4, CONVERSATIONAL_HIT));
        memory.release(0, 0);
        assertThat(memory.admit(AdmissionRequest.of(lookup, 4, 23)
                        .with()
                        .reserveFullSequence(false)
                        .atNanos(++nowNanos)
                        .isResumed(true)
                        .build()))
                .isEqualTo(admitted(0, 4, MISS_FULL));
    }

    private SessionKvCache memory(int numBlocks) {
        return new SessionKvCache(new SessionConfig(KvBlocks.of(hasher, numBlocks + 1), true, mode, limits, fullHit));
    }

    private static Admission admitted(int numCached, int numScheduled, PrefixCacheEvent... events) {
        return new Admission.Admitted(numCached, numScheduled, PrefixCacheEvents.of(events));
    }

    private Admission ask(int handle, Prompt prompt) {
        return ask(handle, prompt, false);
    }

    private Admission ask(int handle, Prompt prompt, boolean isAnythingRunning) {
        var lookup = new PrefixLookup(handle, prompt, new SyntheticTokens(-answerOf(prompt)), prompt.length(), true);
        return memory.admit(AdmissionRequest.of(lookup, NO_LIMIT, prompt.length())
                .withIsAnythingRunning(isAnythingRunning)
                .withAtNanos(++nowNanos));
    }

    private Admission ask(int handle, long segment, int length) {
        return ask(handle, new Prompt(tokens(segment, length)));
    }

    private void use(long segment) {
        ask(0, segment, 8);
        memory.free(0, 0);
    }

    /** Asks and answers a whole turn. */
    private void turn(long session, int number, SegmentedTokens tokens, int numOutput) {
        var prompt = prompt(session, number, tokens);
        ask(0, prompt);
        end(0, prompt, numOutput);
    }

    private void end(int handle, Prompt prompt, int numOutput) {
        int numComputed = prompt.length() + numOutput - 1;
        var reservation = new Reservation.Builder();
        reservation.add(handle, numComputed, numComputed);
        assertThat(memory.reserve(reservation.build())).isEqualTo(1);
        var settlement = new Settlement.Builder();
        settlement.begin(1, ++nowNanos);
        settlement.end(handle, 0, prompt.length() + numOutput, 1);
        memory.settle(settlement.build());
    }

    /** The turn number names the text of the answer. */
    private static long answerOf(Prompt prompt) {
        return prompt.turn().turn();
    }

    private static Prompt prompt(long session, int turn, SegmentedTokens tokens) {
        return new Prompt(tokens, SessionTurn.of(session, turn));
    }

    private static Prompt single(long shared, int length, long unique) {
        return new Prompt(tokens(shared, length).append(unique, 3));
    }

    private static SegmentedTokens tokens(long segment, int length) {
        return SegmentedTokens.EMPTY.append(segment, length);
    }
}
