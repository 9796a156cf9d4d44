package understudy.kvcache.content;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import understudy.kvcache.Admission;
import understudy.kvcache.AdmissionRequest;
import understudy.kvcache.KvBlocks;
import understudy.kvcache.PrefixCacheEvent;
import understudy.kvcache.PrefixLookup;
import understudy.kvcache.Settlement;
import understudy.kvcache.eviction.PrefixTable;
import understudy.prompt.BlockRoom;
import understudy.prompt.Prompt;
import understudy.prompt.SessionTurn;
import understudy.prompt.TokenIds;
import understudy.prompt.Xxh3BlockHasher;

/** Whose blocks a request has found by content, in blocks of 4 tokens. Answers have 4 tokens, of which 3 are computed. */
final class ConversationalHitsTest {
    private static final int[] SYSTEM = tokens(0, 8);
    private static final int[] ANSWER = tokens(900, 4);
    private static final PrefixCacheEvent UNEXPECTED = PrefixCacheEvent.CONVERSATIONAL_MISS_UNEXPECTED_PROMPT;

    private KvCacheManager kv = manager(1_000);

    @Test
    void followUpTurn_findsItsConversation() {
        assertThat(serve(7, 1, join(SYSTEM, tokens(100, 5)))).containsExactly(PrefixCacheEvent.MISS_FULL);
        assertThat(serve(7, 2, join(SYSTEM, tokens(100, 5), ANSWER, tokens(200, 3))))
                .containsExactly(PrefixCacheEvent.CONVERSATIONAL_HIT);
    }

    @Test
    void followUpTurn_thatFindsWhatOthersUseToo_findsNoConversation() {
        serve(8, 1, join(SYSTEM, tokens(300, 5)));

        // Its first turn was served elsewhere, so the two blocks of the system prompt are all there is.
        assertThat(serve(7, 2, join(SYSTEM, tokens(100, 5), ANSWER, tokens(200, 3))))
                .containsExactly(PrefixCacheEvent.CROSS_REQUEST_HIT);
        assertThat(serve(8, 2, join(SYSTEM, tokens(700, 9))))
                .as("blocks of both now")
                .contains(PrefixCacheEvent.CROSS_REQUEST_HIT);
    }

    @Test
    void firstTurn_hasNoConversationToFind() {
        serve(7, 1, join(SYSTEM, tokens(100, 5)));

        assertThat(serve(7, 1, join(SYSTEM, tokens(100, 5)))).containsExactly(PrefixCacheEvent.CROSS_REQUEST_HIT);
    }

    @Test
    void rewrittenHistory_isUnexpected() {
        serve(7, 1, tokens(100, 13));

        assertThat(serve(7, 2, tokens(500, 20))).containsExactly(UNEXPECTED, PrefixCacheEvent.MISS_FULL);
        assertThat(serve(7, 3, join(tokens(500, 20), ANSWER, tokens(600, 1))))
                .as("goes on from the rewritten one")
                .containsExactly(PrefixCacheEvent.CONVERSATIONAL_HIT);
    }

    @Test
    void shorterPrompt_isUnexpectedUnlessItFindsItsOwn() {
        serve(7, 1, tokens(100, 13));

        assertThat(serve(7, 2, tokens(500, 3))).containsExactly(UNEXPECTED, PrefixCacheEvent.MISS_FULL);
        // 5 tokens of 17, the first block of which is found.
        assertThat(serve(7, 3, tokens(100, 5))).containsExactly(PrefixCacheEvent.CONVERSATIONAL_HIT);
    }

    @Test
    void promptThatLeavesOutItsBeginning_isNotUnexpected() {
        serve(7, 1, tokens(100, 13));

        var truncated = SessionTurn.of(7, 2).truncatedBy(4);
        assertThat(serve(truncated, join(tokens(104, 9), ANSWER, tokens(200, 3))))
                .containsExactly(PrefixCacheEvent.MISS_FULL);
    }

    @Test
    void conversationThatIsNoLongerCached_cannotBeMissed() {
        kv = manager(8);
        serve(7, 1, tokens(100, 13));
        // 4 of 7 usable blocks; 24 other tokens take the 3 unused ones, and then the end of the conversation first.
        serve(8, 1, tokens(300, 24));

        assertThat(serve(7, 2, tokens(500, 20))).containsExactly(PrefixCacheEvent.MISS_FULL);
    }

    @Test
    void ends_areKeptForSoManyConversations() {
        var ends = new ConversationEnds(2);
        var table = new PrefixTable(10);
        for (int session = 1; session <= 3; session++) {
            var first = sequence(SessionTurn.of(session, 1), 100 * session);
            first.setNumCachedBlocks(1);
            table.insert(session, first.hashOf(0), first.homeOf(0), session);
            ends.note(first, 5);
        }

        assertThat(ends.isUnexpected(sequence(SessionTurn.of(3, 2), 5_000), table))
                .isTrue();
        assertThat(ends.isUnexpected(sequence(SessionTurn.of(2, 2), 5_000), table))
                .isTrue();
        assertThat(ends.isUnexpected(sequence(SessionTurn.of(1, 2), 5_000), table))
                .as("the first of three")
                .isFalse();
    }

    private static KvSequence sequence(SessionTurn turn, int firstToken) {
        var prompt = new Prompt(new TokenIds(tokens(firstToken, 9)), turn);
        return new KvSequence(prompt, index -> 0, new Xxh3BlockHasher(4), new BlockRoom());
    }

    /** Against sets of conversations by content: nothing is evicted, and every full block of a prompt is used. */
    @Test
    void hits_agreeWithWhoHasUsedWhat() {
        kv = manager(100_000);
        var random = new Random(3);
        Map<String, Set<Long>> usersByPrefix = new HashMap<>();
        int numConversational = 0;
        for (int i = 0; i < 3_000; i++) {
            long session = random.nextInt(20) - 1L;
            var turn = session < 0 ? SessionTurn.NONE : SessionTurn.of(session, 2);
            // Three texts of two blocks each, from a few: prompts share what comes before the first difference.
            var prompt = join(text(random.nextInt(3)), text(random.nextInt(30)), text(random.nextInt(300)));
            boolean findsOwn = false;
            for (int end = 4; end <= prompt.length - 1; end += 4) {
                var users = usersByPrefix.get(Arrays.toString(Arrays.copyOf(prompt, end)));
                findsOwn |= users != null && session >= 0 && users.equals(Set.of(session));
            }
            assertThat(serve(turn, prompt).contains(PrefixCacheEvent.CONVERSATIONAL_HIT))
                    .isEqualTo(findsOwn);
            numConversational += findsOwn ? 1 : 0;
            for (int end = 4; end <= prompt.length; end += 4) {
                usersByPrefix
                        .computeIfAbsent(Arrays.toString(Arrays.copyOf(prompt, end)), p -> new HashSet<>())
                        .add(session);
            }
        }
        assertThat(numConversational).isBetween(10, 2_000);
    }

    private static int[] text(int number) {
        return tokens(10_000 + number * 10, 8);
    }

    private List<PrefixCacheEvent> serve(long session, int turn, int[] prompt) {
        return serve(SessionTurn.of(session, turn), prompt);
    }

    private List<PrefixCacheEvent> serve(SessionTurn turn, int[] prompt) {
        var lookup = new PrefixLookup(
                0, new Prompt(new TokenIds(prompt), turn), index -> ANSWER[index], prompt.length, true);
        var question = AdmissionRequest.of(lookup, prompt.length, prompt.length + ANSWER.length);
        var admitted = (Admission.Admitted) kv.admit(question);
        int numTokens = prompt.length + ANSWER.length;
        var settlement = new Settlement.Builder();
        settlement.end(0, numTokens - 1, numTokens, 0);
        kv.settle(settlement.build());
        return admitted.events().list();
    }

    private static KvCacheManager manager(int numBlocks) {
        return new KvCacheManager(ContentConfig.vllm(
                KvBlocks.of(new Xxh3BlockHasher(4), numBlocks).withMaxModelLen(10_000)));
    }

    private static int[] tokens(int first, int count) {
        return IntStream.range(first, first + count).toArray();
    }

    private static int[] join(int[]... parts) {
        return IntStream.range(0, parts.length)
                .flatMap(i -> IntStream.of(parts[i]))
                .toArray();
    }
}
