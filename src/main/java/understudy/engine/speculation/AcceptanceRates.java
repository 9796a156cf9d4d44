package understudy.engine.speculation;

import it.unimi.dsi.fastutil.doubles.DoubleImmutableList;
import it.unimi.dsi.fastutil.doubles.DoubleList;

/**
 * Shares of drafts that are accepted, by their place (vLLM {@code synthetic_acceptance_rates}): how often the draft in
 * each place is, with all those before it. Immutable.
 *
 * @param byPosition from 0 to 1, and not rising
 */
public record AcceptanceRates(DoubleList byPosition) {

    /** Checks the rates. */
    public AcceptanceRates {
        byPosition = new DoubleImmutableList(byPosition);
        double before = 1;
        for (double rate : byPosition) {
            if (!(rate >= 0 && rate <= before)) {
                throw new IllegalArgumentException(
                        "rates must be from 0 to 1, and must not rise: " + rate + " follows " + before);
            }
            before = rate;
        }
    }

    /**
     * Returns the rates that scatter least around a mean length, the token behind the drafts included: one number of
     * drafts or the next is accepted, as with vLLM's {@code synthetic_acceptance_length}.
     *
     * @param meanLength from 1 to {@code 1 + numSpeculativeTokens}
     */
    public static AcceptanceRates ofLength(double meanLength, int numSpeculativeTokens) {
        var rates = new double[numSpeculativeTokens];
        for (int i = 0; i < rates.length; i++) {
            rates[i] = Math.max(0, Math.min(1, meanLength - 1 - i));
        }
        return new AcceptanceRates(new DoubleImmutableList(rates));
    }

    /** Returns how many of so many drafts are accepted, given a number drawn evenly from 0 to 1, without 1. */
    int numAccepted(int numDrafts, double draw) {
        int count = 0;
        while (count < numDrafts && draw < byPosition.getDouble(count)) {
            count++;
        }
        return count;
    }
}
