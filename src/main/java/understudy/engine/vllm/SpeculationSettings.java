package understudy.engine.vllm;

import it.unimi.dsi.fastutil.doubles.DoubleList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.engine.speculation.AcceptanceRates;
import understudy.engine.speculation.SpeculationConfig;
import understudy.engine.speculation.SpeculationMethod;
import understudy.engine.speculation.SyntheticDrafts;
import understudy.latency.DraftingLatency;
import understudy.latency.LatencyModel;
import understudy.settings.Numbers;
import understudy.settings.Section;

/**
 * The section {@code engine.speculative}.
 *
 * @param config settings for the scheduler
 * @param drafts acceptance of drafts by the device, or null without speculation
 * @param draftsNanos how long it takes for all drafts of a step
 */
record SpeculationSettings(SpeculationConfig config, SyntheticDrafts.@Nullable Spec drafts, double draftsNanos) {
    static final SpeculationSettings NONE = new SpeculationSettings(SpeculationConfig.NONE, null, 0);

    private static final int MAX_DRAFTS = 128;
    private static final String RATES = "synthetic-acceptance-rates";
    private static final String LENGTH = "synthetic-acceptance-length";

    static SpeculationSettings read(Section engine) {
        var section = engine.section("speculative");
        var method = section.choice("method", SpeculationMethod.class);
        if (method == SpeculationMethod.NONE) {
            return NONE;
        }
        if (method.isOnHost() && !engine.text("async-scheduling").equals("false")) {
            throw section.unusable("method", "whose drafts come too late for engine.async-scheduling = true");
        }
        int count = section.wholeNumber("num-speculative-tokens", 1, MAX_DRAFTS);
        var drafts = new SyntheticDrafts.Spec(count, section.number("proposal-rate", 0, 1), rates(section, count));
        return new SpeculationSettings(method.config(count), drafts, count * section.nanos("draft-time-per-token"));
    }

    private static AcceptanceRates rates(Section section, int count) {
        var texts = section.texts(RATES);
        if (texts.isEmpty()) {
            return AcceptanceRates.ofLength(section.number(LENGTH, 1, 1.0 + count), count);
        }
        section.requireDefaults(List.of(LENGTH), "but " + RATES + " say the same; give one of them");
        double[] rates = texts.stream().mapToDouble(Numbers::parse).toArray();
        if (rates.length != count) {
            throw section.unusable(RATES, "of which there must be one for each of " + count + " drafts");
        }
        try {
            return new AcceptanceRates(DoubleList.of(rates));
        } catch (IllegalArgumentException e) {
            throw section.unusable(RATES, "which must be from 0 to 1, and must not rise");
        }
    }

    /** Returns how long the device takes, given how long the target model does. */
    LatencyModel latency(LatencyModel target) {
        return draftsNanos == 0 ? target : new DraftingLatency(target, draftsNanos);
    }
}
