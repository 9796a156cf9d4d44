package understudy.kvcache.radix;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Places of one request, and where it stands in the tree. */
public final class RadixSequence {
    private static final int FEW_PAGES = 8;

    final RadixLookup lookup;

    /** Pages of the request's places behind those that the tree has of it, which its node and those above it name. */
    private int[] ownPages = {};

    private int numOwnPages;

    /** Pages of the tree before its own. */
    private int numTreePages;

    /** Tokens that have a place. */
    int numPlaces;

    /** Tokens that have a place before the batch ({@code prefix_indices}). */
    int numPrefixTokens;

    /** Tokens whose places the tree owns ({@code cache_protected_len}). */
    int numProtected;

    /** Tokens that the batch goes up to. */
    int end;

    /** Tokens whose KV is there, or is being computed ({@code kv_committed_len}). */
    int numCommitted;

    /** Node that the request has matched, and which it locks once it is admitted. */
    RadixNode node;

    /** Whether it locks its node, and may hold pages. */
    boolean isAdmitted;

    /** Whether its request has ended before its time, while the scheduler still runs it. */
    boolean isAbandoned;

    /** Node that is locked for the time of a trial. */
    @Nullable RadixNode held;

    int heldMark;

    /** Tokens behind the matched node whose KV is on the host. */
    int hostHit;

    /** Last node of those. */
    RadixNode best;

    /** Tokens that have left the window. */
    int windowGone;

    /** Mark of the lock of the window, or 0. */
    int windowMark;

    /** Decodes since the last prefill. */
    int numDecodes;

    RadixSequence(RadixLookup lookup, RadixNode root) {
        this.lookup = lookup;
        node = root;
        best = root;
    }

    public int handle() {
        return lookup.handle();
    }

    /** Returns how many tokens have their places already, before the next batch. */
    public int numPrefixTokens() {
        return numPrefixTokens;
    }

    /** Returns how many tokens more are on the host. */
    public int hostHit() {
        return hostHit;
    }

    /** Returns how many pages hold its places ({@code req_to_token_pool}). */
    int numPages() {
        return numTreePages + numOwnPages;
    }

    int numTreePages() {
        return numTreePages;
    }

    /** Returns for how many pages it has memory. */
    int capacity() {
        return ownPages.length;
    }

    /** Adds pages of its own, up to so many pages in all. */
    void takePages(PagePool pool, int count) {
        int numOwn = count - numTreePages;
        if (numOwn > ownPages.length) {
            ownPages = Arrays.copyOf(ownPages, Math.max(numOwn, numOwnPages + numOwnPages / 2 + FEW_PAGES));
        }
        while (numOwnPages < numOwn) {
            ownPages[numOwnPages++] = pool.take();
        }
    }

    /** Has the tree name its first pages, of which it gives up its own. */
    void leaveToTree(int numPages) {
        int numLeft = Math.max(0, numOwnPages - (numPages - numTreePages));
        ownPages = Arrays.copyOfRange(ownPages, numOwnPages - numLeft, numOwnPages);
        numOwnPages = numLeft;
        numTreePages = numPages;
    }

    /** Returns one of its own pages. */
    int ownPage(int index) {
        return ownPages[index - numTreePages];
    }

    /** Returns some of its own pages. */
    int[] ownPages(int from, int to) {
        return Arrays.copyOfRange(ownPages, from - numTreePages, to - numTreePages);
    }

    /** Frees some of its own pages. */
    void free(PagePool pool, int from, int to) {
        pool.free(ownPages, from - numTreePages, to - numTreePages);
    }

    /** Returns all its pages, in order. */
    int[] pages() {
        var pages = new int[numPages()];
        int at = numTreePages;
        System.arraycopy(ownPages, 0, pages, at, numOwnPages);
        for (var above = node; at > 0; above = Objects.requireNonNull(above.parent)) {
            var shared = Objects.requireNonNull(above.pages);
            at -= shared.length;
            System.arraycopy(shared, 0, pages, at, shared.length);
        }
        return pages;
    }
}
