package understudy.fuzz;

import it.unimi.dsi.fastutil.ints.IntLists;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import understudy.kvcache.Admission;
import understudy.kvcache.BlockCacheSpec;
import understudy.kvcache.KvAnswer;
import understudy.kvcache.KvAsk;
import understudy.kvcache.KvCache;
import understudy.kvcache.KvCacheSpec;
import understudy.kvcache.PrefixLookup;
import understudy.kvcache.Reservation;
import understudy.kvcache.Settlement;

/**
 * Law that a memory of blocks finds what the {@link PrefixModel} finds, or less if it has evicted something. Other memories,
 * and those that find prefixes by session, are not checked.
 */
final class PrefixLaw {
    private final @Nullable PrefixModel model;
    private final boolean sharesWithinStep;
    private final KvCache memory;
    private final Map<Integer, PrefixLookup> lookupsByHandle = new HashMap<>();
    private long numEvictedBefore;

    PrefixLaw(KvCacheSpec spec, KvCache memory) {
        this.memory = memory;
        model = PrefixModel.of(spec);
        sharesWithinStep = spec instanceof BlockCacheSpec blocks && blocks.sharesWithinStep();
    }

    /** Returns the memory's answer. */
    KvAnswer answer(KvAsk ask) {
        boolean isExact = numEvicted() == numEvictedBefore;
        var answer = memory.answer(ask);
        if (model != null) {
            check(model, ask, answer, isExact);
        }
        return answer;
    }

    private void check(PrefixModel model, KvAsk ask, KvAnswer answer, boolean isExact) {
        if (ask instanceof KvAsk.Match match && answer instanceof KvAnswer.Matched matched) {
            for (int i = 0; i < match.lookups().size(); i++) {
                require(model, match.lookups().get(i), matched.numCachedTokens().getInt(i), isExact);
            }
        } else if (ask instanceof KvAsk.Admit admit
                && answer instanceof KvAnswer.Admitted admitted
                && admitted.admission() instanceof Admission.Admitted admission) {
            require(model, admit.request().lookup(), admission.numCachedTokens(), isExact);
            onAdmitted(model, admit.request().lookup(), admission);
        } else if (ask instanceof KvAsk.Reserve reserve && answer instanceof KvAnswer.Reserved reserved) {
            onReserved(model, reserve.reservation(), reserved.numGranted());
        }
    }

    private static void require(PrefixModel model, PrefixLookup lookup, int numFound, boolean isExact) {
        int expected = model.numHitTokens(lookup);
        BrokenLawException.require(
                isExact ? numFound == expected : numFound <= expected,
                "prefix hits",
                () -> numFound + " of " + lookup.numTokens() + " tokens were found, "
                        + (isExact ? "but " : "but at most ") + expected + " have been cached");
    }

    private void onAdmitted(PrefixModel model, PrefixLookup lookup, Admission.Admitted admission) {
        lookupsByHandle.put(lookup.handle(), lookup);
        int numComputed = admission.numCachedTokens() + admission.numScheduledTokens();
        storeAhead(model, lookup, Math.min(numComputed, lookup.numTokens()));
    }

    private void onReserved(PrefixModel model, Reservation reservation, int numGranted) {
        for (int i = 0; i < numGranted; i++) {
            storeAhead(model, known(reservation.handle(i)), reservation.numTokensToCache(i));
        }
    }

    private void storeAhead(PrefixModel model, PrefixLookup lookup, int numTokens) {
        if (sharesWithinStep) {
            model.store(lookup, numTokens);
        }
    }

    /** Stores in the model the tokens that the memory was told to cache. */
    void onSettled(Settlement settlement) {
        for (int i = 0; model != null && i < settlement.size(); i++) {
            model.store(known(settlement.handle(i)), settlement.numTokensToCache(i));
        }
    }

    /** Clears the model, as the memory has dropped all cached content. */
    void onReset() {
        if (model != null) {
            model.clear();
        }
        numEvictedBefore = numEvicted();
    }

    private PrefixLookup known(int handle) {
        var lookup = lookupsByHandle.get(handle);
        if (lookup == null) {
            throw new BrokenLawException("prefix hits", "handle " + handle + " was never admitted");
        }
        return lookup;
    }

    private long numEvicted() {
        return memory.snapshot(IntLists.EMPTY_LIST).numRemoved();
    }
}
