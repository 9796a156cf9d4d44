package understudy.engine.sglang;

import it.unimi.dsi.fastutil.objects.ObjectArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.kvcache.connector.PushWord;

/** What an engine with a role says in a run to the engines at the other end of its requests, by way of its memory. */
final class RoleTalk {
    private final RoleScheduler scheduler;
    private final ObjectArrayList<PushWord> words = new ObjectArrayList<>();

    /** How much the last plan has sent that is said already. */
    private int numSaid;

    RoleTalk(RoleScheduler scheduler) {
        this.scheduler = scheduler;
    }

    boolean isPrefill() {
        return scheduler.role.isPrefill();
    }

    boolean awaitsPeer() {
        return scheduler.awaitsPeer();
    }

    List<SglangRequest> takeEnded() {
        return scheduler.takeEnded();
    }

    void onQueued(SglangRequest request) {
        words.add(new PushWord(PushWord.Kind.QUEUED, request.id(), 0));
    }

    /** Says what was sent since the last call; to be called before a plan is begun, and when it is made. */
    void onSent() {
        var sent = scheduler.lastPlan().sent();
        for (; numSaid < sent.size(); numSaid++) {
            var piece = sent.get(numSaid);
            // Another life of a request that was given up may have begun on this replica.
            if (!piece.request().isGivenUp) {
                words.add(new PushWord(kind(piece), piece.request().id(), piece.numPages()));
            }
        }
    }

    private PushWord.Kind kind(SglangPlan.Sent piece) {
        if (!isPrefill()) {
            return PushWord.Kind.PLACES;
        }
        return piece.isLast() ? PushWord.Kind.LAST_PIECE : PushWord.Kind.PIECE;
    }

    /** A plan is begun, which has sent nothing yet. */
    void onBegun() {
        numSaid = 0;
    }

    /** Returns all that is to be said, or null if there is nothing. */
    @Nullable PushAsk take() {
        if (words.isEmpty()) {
            return null;
        }
        var ask = new PushAsk(List.copyOf(words));
        words.clear();
        return ask;
    }
}
