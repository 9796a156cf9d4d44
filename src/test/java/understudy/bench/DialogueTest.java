package understudy.bench;

import static org.assertj.core.api.Assertions.assertThat;

import it.unimi.dsi.fastutil.ints.IntList;
import org.junit.jupiter.api.Test;
import understudy.engine.OutputPlan;
import understudy.engine.Request;
import understudy.prompt.Prompt;
import understudy.prompt.SegmentedTokens;
import understudy.prompt.SyntheticTokens;

final class DialogueTest {
    private static final SegmentedTokens QUESTION = SegmentedTokens.EMPTY.append(1, 3);

    @Test
    void answerOfTheServer_hasThePlaceOfTheOneThatWasMadeUp() {
        var dialogue = new Dialogue();
        dialogue.ask(request(QUESTION), true);
        dialogue.answer("so", IntList.of(7, 8), 2);
        // The workload goes on behind two tokens of segment 2, which it takes for the answer.
        dialogue.ask(request(QUESTION.append(2, 2).append(3, 1)), true);

        var first = new SyntheticTokens(1);
        assertThat(dialogue.ids())
                .extracting(id -> id.intValue())
                .containsExactly(
                        first.tokenAt(0), first.tokenAt(1), first.tokenAt(2), 7, 8, new SyntheticTokens(3).tokenAt(0));
    }

    @Test
    void equalTokens_areEqualWords() {
        var one = new Dialogue();
        one.ask(request(QUESTION), false);
        var longer = new Dialogue();
        longer.ask(request(QUESTION.append(2, 2)), false);

        assertThat(one.text().strip().split(" ")).hasSize(3);
        assertThat(longer.text()).startsWith(one.text() + " ");
    }

    @Test
    void rewrittenHistory_replacesEverything() {
        var dialogue = new Dialogue();
        dialogue.ask(request(QUESTION), false);
        dialogue.answer("so", IntList.of(), 2);
        dialogue.ask(request(SegmentedTokens.EMPTY.append(9, 6)), false);

        assertThat(dialogue.messages()).hasSize(1);
        assertThat(dialogue.text().strip().split(" ")).hasSize(6);
    }

    private static Request request(SegmentedTokens tokens) {
        return Request.of(0, 0, new Prompt(tokens), 5, new OutputPlan(new SyntheticTokens(0), 5));
    }
}
