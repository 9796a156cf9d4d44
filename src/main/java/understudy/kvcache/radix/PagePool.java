package understudy.kvcache.radix;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.ints.IntArrays;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/**
 * Free pages in the order in which they are given out (SGLang {@code mem_cache/allocator.py}). Pages of one token are
 * taken from the front, and go behind in the order in which they are freed; larger ones that are freed together go in
 * front, in ascending order. In the roles of disaggregation freed pages wait in a second list, and both are merged and
 * sorted when the first is too short ({@code need_sort}).
 */
class PagePool {
    private final int pageSize;
    private final PageList free;
    private final @Nullable PageList released;
    private final IntArrayList group = new IntArrayList();
    private boolean isGrouping;

    /** Creates a pool of the pages from {@code first} on, of which all are free. */
    PagePool(int pageSize, int first, int numPages, boolean needSort) {
        this.pageSize = pageSize;
        released = needSort ? new PageList() : null;
        free = new PageList(first, first + numPages);
    }

    final int pageSize() {
        return pageSize;
    }

    /** Returns the free tokens. */
    int size() {
        return (free.size() + (released == null ? 0 : released.size())) * pageSize;
    }

    final PageList order() {
        return free;
    }

    final int[] releaseOrder() {
        return released == null ? new int[0] : released.toArray();
    }

    /** Adds the free pages to those that were seen; see {@link PageList#addTo}. */
    final int addTo(BitSet seen, int numPages) {
        return free.addTo(seen, numPages) + (released == null ? 0 : released.addTo(seen, numPages));
    }

    /** Takes the first free page. */
    int take() {
        return free.removeFirst();
    }

    /** Takes pages, or none and returns null if there are fewer. */
    final int @Nullable [] takeAll(int numPages) {
        if (numPages * pageSize > size()) {
            return null;
        }
        ready(numPages);
        var pages = new int[numPages];
        for (int i = 0; i < numPages; i++) {
            pages[i] = take();
        }
        return pages;
    }

    /** Merges the two lists if the first has fewer pages. */
    final void ready(int numPages) {
        if (released != null && numPages > free.size()) {
            free.mergeSorted(released);
        }
    }

    /** Frees pages that are freed together. */
    void free(int[] pages, int from, int to) {
        if (to <= from) {
            return;
        }
        if (isGrouping) {
            group.addElements(group.size(), pages, from, to - from);
        } else {
            putBack(pages, from, to);
        }
    }

    /** Frees pages at once. */
    void putBack(int[] pages, int from, int to) {
        if (to <= from) {
            return;
        }
        if (pageSize == 1) {
            (released == null ? free : released).addLast(pages, from, to);
            return;
        }
        var sorted = IntArrays.copy(pages, from, to - from);
        (released == null ? free : released).addFirst(sorted, sortUnique(sorted));
    }

    /** Sorts, moves the different numbers to the front, and returns how many they are. */
    static int sortUnique(int[] numbers) {
        IntArrays.unstableSort(numbers);
        int count = 0;
        for (int i = 0; i < numbers.length; i++) {
            if (i == 0 || numbers[i] != numbers[i - 1]) {
                numbers[count++] = numbers[i];
            }
        }
        return count;
    }

    /** Collects what is freed until {@link #endGroup}. */
    final void beginGroup() {
        isGrouping = true;
    }

    /** Frees what was collected, together. */
    final void endGroup() {
        isGrouping = false;
        int count = group.size();
        var pages = group.elements();
        group.size(0);
        free(pages, 0, count);
    }
}
