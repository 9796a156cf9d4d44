package understudy.kvcache.radix;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Places of one request, and where it stands in the tree. */
public final class RadixSequence {
    final RadixLookup lookup;

    /** Pages of the request's places ({@code req_to_token_pool}). */
    int[] pages = new int[8];

    int numPages;

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

    void addPage(int page) {
        if (numPages == pages.length) {
            pages = Arrays.copyOf(pages, numPages * 2);
        }
        pages[numPages++] = page;
    }

    void ensurePages(int count) {
        if (count > pages.length) {
            pages = Arrays.copyOf(pages, Math.max(count, pages.length * 2));
        }
    }
}
