package understudy.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import understudy.cluster.ListWorkload;
import understudy.engine.OutputPlan;
import understudy.engine.Request;
import understudy.prompt.Prompt;
import understudy.prompt.SessionTurn;
import understudy.prompt.TokenIds;

/** Adapters that sessions draw. */
final class LoraWorkloadTest {
    private static final RandomStreams STREAMS = new RandomStreams(1);

    /** Three adapters with skew 1: shares 1 : 1/2 : 1/3, so 6/11, 3/11 and 2/11 of those three quarters that have one. */
    @Test
    void adapters_areDrawnByZipfsLaw() {
        int count = 20_000;
        var names = names(count, new LoraWorkload.Options(3, 1, 0.25));

        assertThat(share(names, "")).isCloseTo(0.25, within(0.015));
        assertThat(share(names, "lora-0")).isCloseTo(0.75 * 6 / 11, within(0.015));
        assertThat(share(names, "lora-1")).isCloseTo(0.75 * 3 / 11, within(0.015));
        assertThat(share(names, "lora-2")).isCloseTo(0.75 * 2 / 11, within(0.015));
    }

    @Test
    void turnsOfASession_haveTheSameAdapter() {
        var requests = new ArrayList<Request>();
        for (int i = 0; i < 40; i++) {
            requests.add(request(i, new Prompt(new TokenIds(new int[] {1}), "", "", SessionTurn.of(i % 4, 1 + i / 4))));
        }
        var names = names(new ListWorkload(requests), new LoraWorkload.Options(100, 0, 0));

        for (int i = 4; i < 40; i++) {
            assertThat(names.get(i)).isEqualTo(names.get(i % 4));
        }
        assertThat(names.subList(0, 4)).doesNotHaveDuplicates();
    }

    @Test
    void requestWithAnAdapterOfItsOwn_keepsIt() {
        var request = request(0, new Prompt(new TokenIds(new int[] {1}), "mine", ""));

        assertThat(names(new ListWorkload(List.of(request)), new LoraWorkload.Options(1, 0, 0)))
                .containsExactly("mine");
    }

    private static double share(List<String> names, String name) {
        return names.stream().filter(name::equals).count() / (double) names.size();
    }

    private static List<String> names(int count, LoraWorkload.Options options) {
        var requests = new ArrayList<Request>();
        for (int i = 0; i < count; i++) {
            requests.add(request(i, new Prompt(new TokenIds(new int[] {1}))));
        }
        return names(new ListWorkload(requests), options);
    }

    private static List<String> names(Workload workload, LoraWorkload.Options options) {
        var drawn = new LoraWorkload(workload, options, STREAMS);
        var names = new ArrayList<String>();
        for (var request = drawn.next(); request != null; request = drawn.next()) {
            names.add(request.prompt().loraName());
        }
        return names;
    }

    private static Request request(long id, Prompt prompt) {
        return Request.of(id, id, prompt, 1, new OutputPlan(index -> 0, OutputPlan.ENDLESS));
    }
}
