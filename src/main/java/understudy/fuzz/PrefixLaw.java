package understudy.fuzz;

import it.unimi.dsi.fastutil.ints.IntLists;
import java.util.HashMap;
import java.util.Map;
import understudy.kvcache.Admission;
import understudy.kvcache.KvAnswer;
import understudy.kvcache.KvAsk;
import understudy.kvcache.KvCache;
import understudy.kvcache.KvCacheConfig;
import understudy.kvcache.PrefixLookup;
import understudy.kvcache.Reservation;
import understudy.kvcache.Settlement;

/** Law that a memory finds what the {@link PrefixModel} finds, or less if it has evicted something. */
final class PrefixLaw {
    private final KvCacheConfig config;
    private final KvCache memory;
    private final PrefixModel model;
    private final Map<Integer, PrefixLookup> lookupsByHandle = new HashMap<>();
    private long numEvictedBefore;

    PrefixLaw(KvCacheConfig config, KvCache memory) {
        this.config = config;
        this.memory = memory;
        model = new PrefixModel(config);
    }

    /** Returns the memory's answer; those of a memory that finds prefixes by session are not checked. */
    KvAnswer answer(KvAsk ask) {
        boolean isExact = numEvicted() == numEvictedBefore;
        var answer = memory.answer(ask);
        if (!config.findsBySession()) {
            check(ask, answer, isExact);
        }
        return answer;
    }

    private void check(KvAsk ask, KvAnswer answer, boolean isExact) {
        if (ask instanceof KvAsk.Match match && answer instanceof KvAnswer.Matched matched) {
            for (int i = 0; i < match.lookups().size(); i++) {
                require(match.lookups().get(i), matched.numCachedTokens().getInt(i), isExact);
            }
        } else if (ask instanceof KvAsk.Admit admit
                && answer instanceof KvAnswer.Admitted admitted
                && admitted.admission() instanceof Admission.Admitted admission) {
            require(admit.request().lookup(), admission.numCachedTokens(), isExact);
            onAdmitted(admit.request().lookup(), admission);
        } else if (ask instanceof KvAsk.Reserve reserve && answer instanceof KvAnswer.Reserved reserved) {
            onReserved(reserve.reservation(), reserved.numGranted());
        }
    }

    private void require(PrefixLookup lookup, int numFound, boolean isExact) {
        int expected = model.numHitTokens(lookup);
        BrokenLawException.require(
                isExact ? numFound == expected : numFound <= expected,
                "prefix hits",
                () -> numFound + " of " + lookup.numTokens() + " tokens were found, "
                        + (isExact ? "but " : "but at most ") + expected + " have been cached");
    }

    private void onAdmitted(PrefixLookup lookup, Admission.Admitted admission) {
        lookupsByHandle.put(lookup.handle(), lookup);
        int numComputed = admission.numCachedTokens() + admission.numScheduledTokens();
        storeAhead(lookup, Math.min(numComputed, lookup.numTokens()));
    }

    private void onReserved(Reservation reservation, int numGranted) {
        for (int i = 0; i < numGranted; i++) {
            storeAhead(known(reservation.handle(i)), reservation.numTokensToCache(i));
        }
    }

    private void storeAhead(PrefixLookup lookup, int numTokens) {
        if (config.sharesWithinStep()) {
            model.store(lookup, numTokens);
        }
    }

    /** Takes note of what the memory has been told. */
    void onSettled(Settlement settlement) {
        for (int i = 0; i < settlement.size() && !config.findsBySession(); i++) {
            model.store(known(settlement.handle(i)), settlement.numTokensToCache(i));
        }
    }

    /** Takes note that the memory has forgotten everything. */
    void onReset() {
        model.clear();
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
