package understudy.engine.speculation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import it.unimi.dsi.fastutil.doubles.DoubleList;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.util.Arrays;
import java.util.Collections;
import java.util.function.DoubleSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.workload.RandomStreams;

final class SyntheticDraftsTest {

    /** Mean acceptance lengths of MTP layers, with 1 to 8 drafts; from InferenceX, with thinking. */
    @ParameterizedTest
    @CsvSource({"1, 1.84", "2, 2.50", "3, 2.99", "4, 3.33", "5, 3.61", "6, 3.78", "7, 3.91", "8, 4.06"})
    void meanLength_isThatOfTheTable(int numDrafts, double length) {
        var counts = counts(numDrafts, AcceptanceRates.ofLength(length, numDrafts), 20_000);

        assertThat(counts.numDraftTokens()).isEqualTo(20_000L * numDrafts);
        assertThat(counts.meanAcceptanceLength()).isCloseTo(length, within(0.01 * length));
    }

    @Test
    void ratesByPosition_areThoseGiven() {
        var counts = counts(3, new AcceptanceRates(DoubleList.of(0.8, 0.65, 0.52)), 50_000);

        assertThat(counts.acceptanceRateAt(0)).isCloseTo(0.8, within(0.01));
        assertThat(counts.acceptanceRateAt(1)).isCloseTo(0.65, within(0.01));
        assertThat(counts.acceptanceRateAt(2)).isCloseTo(0.52, within(0.01));
        // 1 + 0.8 + 0.65 + 0.52 = 2.97, and 1.97 of 3.
        assertThat(counts.meanAcceptanceLength()).isCloseTo(2.97, within(0.02));
        assertThat(counts.acceptanceRate()).isCloseTo(0.657, within(0.01));
    }

    @Test
    void length_liesBetweenTwoNumbersOfDrafts() {
        assertThat(AcceptanceRates.ofLength(2.25, 4)).isEqualTo(new AcceptanceRates(DoubleList.of(1, 0.25, 0, 0)));
        assertThat(AcceptanceRates.ofLength(1, 2)).isEqualTo(new AcceptanceRates(DoubleList.of(0, 0)));
        assertThat(AcceptanceRates.ofLength(3, 2)).isEqualTo(new AcceptanceRates(DoubleList.of(1, 1)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"0.5, 0.6", "1.1", "-0.1", "NaN"})
    void ratesThatCannotBe_areRefused(String rates) {
        double[] numbers = Arrays.stream(rates.split(", "))
                .mapToDouble(Double::parseDouble)
                .toArray();

        assertThatIllegalArgumentException().isThrownBy(() -> new AcceptanceRates(DoubleList.of(numbers)));
    }

    /** Draws: one for each request with drafts, and one for those that each request gets. */
    @Test
    void execute_acceptsAndProposes() {
        var spec = new SyntheticDrafts.Spec(2, 0.5, new AcceptanceRates(DoubleList.of(0.8, 0.4)));
        var draws = DoubleList.of(0.3, 0.4, 0.6, 0.3, 0.5).iterator();
        var drafts = new SyntheticDrafts(spec, draws::nextDouble);

        // 0.3 accepts both, 0.4 proposes; no draft; 0.6 does not propose; one draft, 0.3 accepts it, 0.5 does not
        // propose.
        assertThat(drafts.execute(IntList.of(2, 0, 1)))
                .isEqualTo(new DraftOutput(IntList.of(2, 0, 1), IntList.of(2, 0, 0)));
        assertThat(draws.hasNext()).isFalse();
    }

    /** A draw may be 0, but never 1. */
    @Test
    void rates0And1_acceptNoneAndAll() {
        assertThat(new AcceptanceRates(DoubleList.of(0, 0)).numAccepted(2, 0)).isZero();
        assertThat(new AcceptanceRates(DoubleList.of(1, 0)).numAccepted(2, 0)).isOne();
        assertThat(new AcceptanceRates(DoubleList.of(1, 1)).numAccepted(2, Math.nextDown(1.0)))
                .isEqualTo(2);
    }

    /** Nor are drafts proposed at a rate of 0, whatever is drawn. */
    @Test
    void proposalRate0_proposesNothing() {
        var spec = new SyntheticDrafts.Spec(1, 0, new AcceptanceRates(DoubleList.of(1)));

        assertThat(new SyntheticDrafts(spec, () -> 0).execute(IntList.of(0)))
                .isEqualTo(new DraftOutput(IntList.of(0), IntList.of(0)));
    }

    @Test
    void draftsThatAreAlwaysThere_areNotDrawn() {
        var spec = new SyntheticDrafts.Spec(1, 1, AcceptanceRates.ofLength(1.5, 1));
        var draws = DoubleList.of(0.4, 0.6).iterator();

        assertThat(new SyntheticDrafts(spec, draws::nextDouble).execute(IntList.of(1, 1)))
                .isEqualTo(new DraftOutput(IntList.of(1, 0), IntList.of(1, 1)));
    }

    @Test
    void countsAddUp() {
        var first = new DraftCounts(2, 5, LongList.of(2, 1));
        var second = new DraftCounts(1, 3, LongList.of(1, 1, 1));

        assertThat(first.plus(second)).isEqualTo(new DraftCounts(3, 8, LongList.of(3, 2, 1)));
        assertThat(second.plus(first)).isEqualTo(first.plus(second));
        assertThat(first.plus(DraftCounts.NONE)).isEqualTo(first);
    }

    @ParameterizedTest
    @CsvSource({
        "NGRAM, 0, 0, false", "NGRAM_GPU, 0, 0, false", "SUFFIX, 0, 0, false", "DRAFT_MODEL, 4, 1, false",
        "EAGLE, 4, 0, true", "EAGLE3, 4, 0, true", "MTP, 4, 0, true", "DFLASH, 5, 4, true"
    })
    void method_takesWhatItTakesInVllm(SpeculationMethod method, int numLookahead, int numSlots, boolean usesEagle) {
        assertThat(method.config(4)).isEqualTo(new SpeculationConfig(4, numLookahead, numSlots, usesEagle));
    }

    private static DraftCounts counts(int numDrafts, AcceptanceRates rates, int numVerified) {
        DoubleSupplier random = new RandomStreams(7).stream("drafts")::nextDouble;
        var drafts = new SyntheticDrafts(new SyntheticDrafts.Spec(numDrafts, 1, rates), random);
        var counts = new DraftCounts.Builder(numDrafts);
        drafts.execute(IntList.of(Collections.nCopies(numVerified, numDrafts).stream()
                        .mapToInt(Integer::intValue)
                        .toArray()))
                .accepted()
                .forEach(accepted -> counts.add(numDrafts, accepted));
        return counts.take();
    }
}
