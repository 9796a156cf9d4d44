package understudy.describe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import it.unimi.dsi.fastutil.longs.LongList;
import java.io.IOException;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import understudy.prompt.SessionTurn;
import understudy.workload.trace.TraceRow;
import understudy.workload.trace.TraceRowBuilder;

final class TraceDescriberTest {
    private static final long SECOND = 1_000_000_000;

    private final TraceDescriber describer = new TraceDescriber();

    /**
     * Three requests in 10 s with gaps of 2 and 8 s, whose mean is 5 and whose standard deviation 3: a variation of 0.6.
     * Prompts of 100, 200 and 600 tokens have a mean of 300, and a median of 200.
     */
    @Test
    void ratesAndLengths_areThoseOfTheRequests() throws IOException {
        describer.add(TraceRow.of(1, 100 * SECOND, 100, 10));
        describer.add(TraceRow.of(2, 102 * SECOND, 200, 20));
        describer.add(TraceRow.of(3, 110 * SECOND, 600, 60));

        var json = json();
        assertThat(json.get("requests").asInt()).isEqualTo(3);
        assertThat(json.get("duration_s").asDouble()).isEqualTo(10);
        assertThat(json.get("requests_per_s").asDouble()).isCloseTo(0.3, within(1e-12));
        assertThat(json.get("gap_cv").asDouble()).isCloseTo(0.6, within(1e-12));
        assertThat(json.at("/prompt_tokens/mean").asDouble()).isEqualTo(300);
        assertThat(json.at("/prompt_tokens/p50").asDouble()).isEqualTo(200);
        // Between 20 and 60, four fifths of the way behind the median.
        assertThat(json.at("/output_tokens/p90").asDouble()).isCloseTo(52, within(1e-9));
        assertThat(json.at("/course/requests")).hasSize(11);
        assertThat(json.at("/course/output_tokens/10").asInt()).isEqualTo(60);
        assertThat(json.has("content")).isFalse();
    }

    /** Beyond 240 intervals two are taken together: 300 s are 151 intervals of 2 s. */
    @Test
    void longTrace_hasLongerIntervals() throws IOException {
        for (int i = 0; i <= 300; i++) {
            describer.add(TraceRow.of(i + 1L, i * SECOND, 1, 1));
        }

        assertThat(json().at("/course/interval_s").asInt()).isEqualTo(2);
        assertThat(json().at("/course/requests")).hasSize(151);
        assertThat(json().at("/course/requests/0").asInt()).isEqualTo(2);
        assertThat(json().at("/course/requests/150").asInt()).isEqualTo(1);
    }

    @Test
    void sessions_haveTurnsAndPauses() throws IOException {
        describer.add(TraceRow.of(1, 0, 1, 1).withTurn(SessionTurn.of(7, 1)));
        describer.add(TraceRow.of(2, SECOND, 1, 1).withTurn(SessionTurn.of(8, 1)));
        describer.add(TraceRow.of(3, 4 * SECOND, 1, 1).withTurn(SessionTurn.of(7, 2)));
        describer.add(TraceRow.of(4, 10 * SECOND, 1, 1).withTurn(SessionTurn.of(7, 3)));

        // Session 7 has three turns, 4 s and 6 s apart; session 8 has one.
        assertThat(json().at("/sessions/turns/count").asInt()).isEqualTo(2);
        assertThat(json().at("/sessions/turns/p100").asInt()).isEqualTo(3);
        assertThat(json().at("/sessions/pause_ms/mean").asDouble()).isEqualTo(5000);
    }

    /**
     * Blocks of 10 tokens. The second prompt has block 1 of the first, 10 of its 20 tokens; the third all of the first, but
     * its 15 tokens end in block 2; the fourth begins with something else, so that block 1 is no prefix.
     */
    @Test
    void infiniteCache_hitsTheLongestKnownPrefix() throws IOException {
        describer.add(row(0, 20, 1, 2));
        describer.add(row(1, 20, 1, 3));
        describer.add(row(2, 15, 1, 2));
        describer.add(row(3, 20, 4, 1));

        assertThat(json().at("/content/infinite_cache_hit_tokens").asInt()).isEqualTo(10 + 15);
        assertThat(json().at("/content/infinite_cache_hit_rate").asDouble()).isCloseTo(25 / 75.0, within(1e-12));
        assertThat(json().at("/content/different_blocks").asInt()).isEqualTo(4);
        // Eight accesses to four blocks.
        assertThat(json().at("/content/reused_accesses").asInt()).isEqualTo(4);
    }

    /** In the first second blocks 1 and 2 are there, of which 2 goes; in the second one 3 comes; in the third 1 and 3. */
    @Test
    void workingSet_isWhatIsUsedBeforeAndAfter() throws IOException {
        describer.add(row(0, 20, 1, 2));
        describer.add(row(1, 10, 3));
        describer.add(row(2, 20, 1, 3));

        assertThat(json().at("/course/working_set_blocks"))
                .extracting(JsonNode::asInt)
                .containsExactly(2, 2, 2);
    }

    /** The answer to the first prompt completes block 2, with which the second prompt goes on. */
    @Test
    void namedAnswers_areInTheCache() throws IOException {
        describer.add(TraceRowBuilder.builder()
                .line(1)
                .numPromptTokens(15)
                .blockIds(LongList.of(1))
                .blockTokens(10)
                .outputBlockIds(LongList.of(2))
                .numOutputTokens(5)
                .tenant("")
                .loraName("")
                .turn(SessionTurn.of(0, 1))
                .build());
        describer.add(row(1, 30, 1, 2, 3));

        assertThat(json().at("/content/infinite_cache_hit_tokens").asInt()).isEqualTo(20);
    }

    @Test
    void page_hasTheChartsAndLoadsNothing() throws IOException {
        describer.add(row(0, 20, 1, 2));
        describer.add(row(1, 20, 1, 3));
        var page = new StringWriter();
        describer.finish("a.jsonl", "mooncake").writePage(page);

        assertThat(page.toString())
                .contains("name=\"working-set\"", "name=\"reuse-by-distance\"", "name=\"prompt-lengths\"")
                .doesNotContain("src=\"http");
    }

    private static TraceRow row(long second, int promptTokens, long... blocks) {
        return TraceRowBuilder.builder()
                .line(second + 1)
                .arrivalNanos(second * SECOND)
                .numPromptTokens(promptTokens)
                .blockIds(LongList.of(blocks))
                .blockTokens(10)
                .outputBlockIds(LongList.of())
                .numOutputTokens(1)
                .tenant("")
                .loraName("")
                .turn(SessionTurn.NONE)
                .build();
    }

    private JsonNode json() throws IOException {
        return new ObjectMapper()
                .readTree(describer.finish("a.jsonl", "mooncake").json());
    }
}
