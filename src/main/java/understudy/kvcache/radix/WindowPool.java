package understudy.kvcache.radix;

import java.util.Arrays;

/**
 * Two pools of pages, for layers with full attention and for those with a sliding window (SGLang {@code
 * mem_cache/swa_memory_pool.py}). A page of the first is tied to one of the second, or to none any more.
 */
final class WindowPool extends PagePool {
    private final PageList windowFree;

    /** The window's page of each page that was ever taken, or 0; pages are first taken by number. */
    private int[] windowPages = new int[16];

    private final int numWindowPages;

    WindowPool(int pageSize, int numPages, int numWindowPages) {
        super(pageSize, 1, numPages, false);
        this.numWindowPages = numWindowPages;
        windowFree = new PageList(1, numWindowPages + 1);
    }

    /** Returns the free tokens of the pool for full attention. */
    int fullSize() {
        return super.size();
    }

    /** Returns the free tokens of the window's pool. */
    int windowSize() {
        return windowFree.size() * pageSize();
    }

    @Override
    int size() {
        return Math.min(fullSize(), windowSize());
    }

    @Override
    int take() {
        int page = super.take();
        if (page >= windowPages.length) {
            windowPages = Arrays.copyOf(windowPages, page * 2);
        }
        windowPages[page] = windowFree.removeFirst();
        return page;
    }

    /** Returns how many pages of the window are free and tied, twice either, neither, or tied to a free page. */
    int numBadWindowPages() {
        var counts = new int[numWindowPages + 1];
        for (int page : windowFree.toArray()) {
            counts[page]++;
        }
        for (int page : windowPages) {
            counts[page] += page == 0 ? 0 : 1;
        }
        int numBad = 0;
        for (int page = 1; page <= numWindowPages; page++) {
            numBad += counts[page] == 1 ? 0 : 1;
        }
        for (int page : order().toArray()) {
            numBad += page >= windowPages.length || windowPages[page] == 0 ? 0 : 1;
        }
        return numBad;
    }

    int windowPage(int page) {
        return windowPages[page];
    }

    int[] windowOrder() {
        return windowFree.toArray();
    }

    /** Ties the window's page of one page to another one. */
    void moveWindow(int from, int to) {
        windowPages[to] = windowPages[from];
        windowPages[from] = 0;
    }

    @Override
    void putBack(int[] pages, int from, int to) {
        super.putBack(pages, from, to);
        freeWindow(pages, from, to);
    }

    /** Frees pages of the pool for full attention alone. */
    void freeFull(int[] pages, int from, int to) {
        super.putBack(pages, from, to);
    }

    /** Frees the window's pages that are tied to pages. */
    void freeWindow(int[] pages, int from, int to) {
        var freed = new int[Math.max(0, to - from)];
        int count = 0;
        for (int i = from; i < to; i++) {
            int page = windowPages[pages[i]];
            windowPages[pages[i]] = 0;
            if (page != 0) {
                freed[count++] = page;
            }
        }
        if (pageSize() == 1) {
            windowFree.addLast(freed, 0, count);
        } else {
            var sorted = Arrays.copyOf(freed, count);
            windowFree.addFirst(sorted, sortUnique(sorted));
        }
    }
}
