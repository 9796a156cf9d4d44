package understudy.kvcache.session;

import it.unimi.dsi.fastutil.ints.IntList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.kvcache.KvCacheAudit;

/**
 * Simplified model of a session cache: a container counts unique blocks. A prefix belongs to the request or the cache
 * entry that brought it in, and is not counted again for those who go on from it; it stays as long as they do.
 */
final class SimplifiedLedger implements BlockLedger {
    private final int numBlocks;
    private final int blockSize;
    private int numFree;
    private int numInUse;

    SimplifiedLedger(int numBlocks, int blockSize) {
        this.numBlocks = numBlocks;
        this.blockSize = blockSize;
        numFree = numBlocks;
    }

    @Override
    public int numFree() {
        return numFree;
    }

    @Override
    public int numAvailable() {
        return numBlocks - numInUse;
    }

    @Override
    public BlockHolding open() {
        return new Holding(Kind.REQUEST, null, 0);
    }

    @Override
    public KvCacheAudit audit(List<BlockHolding> requests, List<BlockHolding> cached) {
        int inUse = requests.stream().mapToInt(h -> ((Holding) h).numOwn).sum();
        int numCached = 0;
        for (var prefix : cached) {
            var holding = (Holding) prefix;
            boolean isUsed = requests.stream().anyMatch(request -> ((Holding) request).standsOn(holding));
            inUse += isUsed ? holding.numOwn : 0;
            numCached += holding.numOwn;
        }
        int numHeld = requests.stream().mapToInt(h -> ((Holding) h).numOwn).sum() + numCached;
        int numBad = Math.abs(numInUse - inUse) + Math.abs(numBlocks - numHeld - numFree);
        return new KvCacheAudit(numBlocks + 1, numBlocks - inUse, inUse, numCached, numBad, 0, 0);
    }

    private enum Kind {
        REQUEST,
        SESSION,
        PREFIX
    }

    private final class Holding implements BlockHolding {
        private final Kind kind;
        private final @Nullable Holding base;
        private int numOwn;

        /** Blocks at the beginning that belong to {@code base}, or to what that stands on. */
        private int numShared;

        /** Number of them that belong to the base of a base of the kind session. */
        private int numBelowSession;

        /** The base of a request changes when it hands its first blocks over. */
        private @Nullable Holding handedOver;

        private int numDependents;
        private int numRequests;

        Holding(Kind kind, @Nullable Holding base, int numShared) {
            this.kind = kind;
            this.base = base;
            this.numShared = numShared;
            if (base != null) {
                base.numDependents++;
            }
        }

        @Override
        public BlockHolding share(int firstBlock, int numTokens) {
            int numHeld = numShared + numOwn - firstBlock;
            var request = new Holding(Kind.REQUEST, this, Math.min(blocksFor(numTokens), numHeld));
            request.numBelowSession = Math.min(request.numShared, Math.max(0, numShared - firstBlock));
            addRequest(1);
            return request;
        }

        @Override
        public int numMissing(int numTokens) {
            return Math.max(0, blocksFor(numTokens) - numShared - numOwn);
        }

        @Override
        public void grow(int numTokens) {
            int numMissing = numMissing(numTokens);
            numOwn += numMissing;
            numFree -= numMissing;
            numInUse += numMissing;
        }

        /** Moves the request's blocks to the session, and those of the session's turn before with them. */
        @Override
        public BlockHolding keepForSession(int numTokens) {
            var before = base != null && base.kind == Kind.SESSION ? base : null;
            int numBelow = before != null ? numBelowSession : numShared;
            var below = before != null ? before.base : top();
            var session = new Holding(Kind.SESSION, numBelow > 0 ? below : null, numBelow);
            int numWanted = Math.max(0, blocksFor(numTokens) - numBelow);
            moveTo(session, Math.min(numOwn, numWanted));
            if (before != null) {
                before.moveTo(session, Math.min(before.numOwn, numWanted - session.numOwn));
            }
            return session;
        }

        @Override
        public BlockHolding keepAsPrefix(int numBlocksKept) {
            var prefix = new Holding(Kind.PREFIX, base, numShared);
            moveTo(prefix, numBlocksKept - numShared);
            prefix.numDependents++;
            prefix.numRequests++;
            numInUse += prefix.numOwn;
            numShared = numBlocksKept;
            handedOver = prefix;
            return prefix;
        }

        @Override
        public void release() {
            numFree += numOwn;
            numInUse -= isInUse() ? numOwn : 0;
            numOwn = 0;
            if (base != null) {
                base.numDependents--;
            }
            if (kind == Kind.REQUEST && base != null) {
                base.addRequest(-1);
            }
            if (handedOver != null) {
                handedOver.numDependents--;
                handedOver.numInUseAfter(-1);
            }
        }

        @Override
        public boolean isEvictable() {
            return numDependents == 0;
        }

        @Override
        public IntList blockIds() {
            return IntList.of();
        }

        private @Nullable Holding top() {
            return handedOver != null ? handedOver : base;
        }

        private boolean standsOn(Holding prefix) {
            for (var holding = top(); holding != null; holding = holding.base) {
                if (holding == prefix) {
                    return true;
                }
            }
            return false;
        }

        private boolean isInUse() {
            return kind == Kind.REQUEST || numRequests > 0;
        }

        private void moveTo(Holding other, int count) {
            numOwn -= count;
            numInUse -= isInUse() ? count : 0;
            other.numOwn += count;
        }

        private void addRequest(int change) {
            for (var holding = this; holding != null; holding = holding.base) {
                holding.numInUseAfter(change);
            }
        }

        private void numInUseAfter(int change) {
            boolean wasInUse = isInUse();
            numRequests += change;
            if (wasInUse != isInUse()) {
                numInUse += wasInUse ? -numOwn : numOwn;
            }
        }

        private int blocksFor(int numTokens) {
            return (numTokens + blockSize - 1) / blockSize;
        }
    }
}
