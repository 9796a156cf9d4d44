package understudy.engine.speculation;

import it.unimi.dsi.fastutil.ints.IntImmutableList;
import it.unimi.dsi.fastutil.ints.IntList;
import java.util.function.DoubleSupplier;

/**
 * Drafts of one device, and which of them are accepted, by rates: one draw for each request that has drafts, whatever
 * they are, and one more for those that it gets.
 */
public final class SyntheticDrafts {
    private final Spec spec;
    private final DoubleSupplier random;

    /**
     * Specification of the drafts of any number of devices.
     *
     * @param numSpeculativeTokens drafts that a request gets, at least 1
     * @param proposalRate how often it gets them, from 0 to 1; else it gets none
     * @param rates of acceptance, one for each draft
     */
    public record Spec(int numSpeculativeTokens, double proposalRate, AcceptanceRates rates) {

        /** Checks that there is a rate for each draft. */
        public Spec {
            if (rates.byPosition().size() != numSpeculativeTokens || !(proposalRate >= 0 && proposalRate <= 1)) {
                throw new IllegalArgumentException(numSpeculativeTokens + " drafts, proposed in " + proposalRate
                        + " of all cases, with rates " + rates.byPosition());
            }
        }
    }

    /**
     * Creates the drafts of a device.
     *
     * @param random draws evenly from 0 to 1, without 1; this device's own
     */
    public SyntheticDrafts(Spec spec, DoubleSupplier random) {
        this.spec = spec;
        this.random = random;
    }

    /** Draws how many drafts each scheduled request of a step has accepted, and how many it gets for its next step. */
    public DraftOutput execute(IntList numDrafts) {
        var accepted = new int[numDrafts.size()];
        var proposed = new int[numDrafts.size()];
        for (int i = 0; i < accepted.length; i++) {
            int count = numDrafts.getInt(i);
            accepted[i] = count == 0 ? 0 : spec.rates.numAccepted(count, random.getAsDouble());
            proposed[i] = isProposing() ? spec.numSpeculativeTokens : 0;
        }
        return new DraftOutput(new IntImmutableList(accepted), new IntImmutableList(proposed));
    }

    private boolean isProposing() {
        return spec.proposalRate == 1 || random.getAsDouble() < spec.proposalRate;
    }
}
