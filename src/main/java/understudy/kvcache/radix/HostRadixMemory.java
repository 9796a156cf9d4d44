package understudy.kvcache.radix;

import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.figure.OwnFigure;
import understudy.figure.OwnFigures;

/** SGLang's KV memory with copies on the host (HiCache). */
final class HostRadixMemory extends RadixMemory {
    private final HostTree tree;

    private HostRadixMemory(RadixConfig config, PagePool pool, HostTree tree) {
        super(config, pool, tree);
        this.tree = tree;
    }

    static HostRadixMemory of(RadixConfig config, RadixConfig.Hierarchy hierarchy) {
        int numPages = config.maxTotalTokens() / config.pageSize();
        var pool = new PagePool(config.pageSize(), 1, numPages, config.needSort());
        return new HostRadixMemory(config, pool, new HostTree(config, hierarchy, pool));
    }

    @Override
    void onMatched(RadixSequence sequence) {
        sequence.hostHit = tree.hostHit;
        sequence.best = tree.best;
    }

    @Override
    public void loadBack(RadixSequence sequence) {
        int count = tree.loadBack(sequence.handle(), sequence.best, sequence.hostHit);
        if (count > 0) {
            sequence.node = sequence.best;
            sequence.numPrefixTokens += count;
            sequence.numProtected = sequence.numPrefixTokens;
        }
    }

    @Override
    public long startLoading() {
        return tree.startLoading();
    }

    @Override
    public long takeWaitNanos() {
        return tree.takeWaitNanos();
    }

    @Override
    public void beginFetch(RadixLookup lookup, long requestId, int numTokens) {
        if (tree.storage != null) {
            tree.match(lookup.tokens(), lookup.extraKey(), Math.max(numTokens - 1, 0));
            tree.storage.begin(lookup, requestId, numTokens, tree.best, tree.matchedLength + tree.hostHit);
        }
    }

    @Override
    public boolean endFetch(int handle) {
        return tree.storage == null || tree.storage.end(handle);
    }

    @Override
    public void dropFetch(int handle) {
        if (tree.storage != null) {
            tree.storage.drop(handle);
        }
    }

    @Override
    @Nullable HostStorage storage() {
        return tree.storage;
    }

    @Override
    int numBadHostPages() {
        return tree.numBadHostPages();
    }

    @Override
    public void acknowledgeWrites() {
        tree.acknowledgeWrites();
    }

    @Override
    public void acknowledgeLoads() {
        tree.acknowledgeLoads();
    }

    @Override
    public void setNow(long nowNanos) {
        tree.setNow(nowNanos);
    }

    @Override
    public void finishCopies() {
        tree.finishCopies();
    }

    @Override
    List<RadixNode> lockedByCopies() {
        return tree.lockedByCopies();
    }

    @Override
    public void setTurn(long turn) {
        tree.setTurn(turn);
    }

    @Override
    public boolean hasPendingCopies() {
        return tree.hasPendingCopies();
    }

    @Override
    public HostActivity takeHostActivity() {
        return tree.takeActivity();
    }

    @Override
    List<OwnFigure> ownFigures() {
        var ofHost = OwnFigures.sum(
                super.ownFigures(),
                List.of(
                        OwnFigure.tokens("written_tokens", "Written to the host", tree.numWrittenTokens()),
                        OwnFigure.tokens("loaded_tokens", "Loaded back from the host", tree.numLoadedTokens()),
                        OwnFigure.tokens("host_evicted_tokens", "Evicted from the host", tree.numHostEvictedTokens())));
        return tree.storage == null ? ofHost : OwnFigures.sum(ofHost, tree.storage.ownFigures());
    }

    @Override
    List<OwnFigure> levels() {
        return List.of(
                OwnFigure.largest(
                        "host_used_tokens", "Tokens on the host", tree.numHostTokens() - tree.numFreeHostTokens()),
                OwnFigure.largest("host_total_tokens", "Tokens that the host has room for", tree.numHostTokens()));
    }

    @Override
    public int[] hostFreeOrder() {
        return tree.hostFreeOrder();
    }
}
