package understudy.kvcache.radix;

import it.unimi.dsi.fastutil.ints.IntArrays;
import java.util.BitSet;

/**
 * Numbers of pages in an order, with two ends. Pages that were never taken out follow each other by number, and take no
 * memory: the list is what was put in front of them, they themselves, and what was put behind.
 */
final class PageList {
    private final PageRing front = new PageRing();
    private final PageRing back = new PageRing();
    private int firstNew;
    private int endOfNew;

    /** Creates an empty list. */
    PageList() {}

    /** Creates a list of all pages from one on to before another one. */
    PageList(int first, int end) {
        firstNew = first;
        endOfNew = end;
    }

    int size() {
        return front.size() + endOfNew - firstNew + back.size();
    }

    /** Returns for how many pages it has memory. */
    int capacity() {
        return front.capacity() + back.capacity();
    }

    int removeFirst() {
        if (front.size() > 0) {
            return front.removeFirst();
        }
        return firstNew < endOfNew ? firstNew++ : back.removeFirst();
    }

    void addLast(int page) {
        back.addLast(page);
    }

    void addLast(int[] pages, int from, int to) {
        back.addLast(pages, from, to);
    }

    /** Puts pages in front of all others, in their order. */
    void addFirst(int[] pages, int count) {
        (firstNew < endOfNew ? front : back).addFirst(pages, count);
    }

    /** Takes all of another list, and sorts. */
    void mergeSorted(PageList other) {
        var all = new int[size() + other.size()];
        copyTo(all, 0);
        other.copyTo(all, size());
        IntArrays.unstableSort(all);
        other.clear();
        clear();
        addLast(all, 0, all.length);
    }

    private void clear() {
        front.clear();
        back.clear();
        firstNew = endOfNew;
    }

    int[] toArray() {
        var pages = new int[size()];
        copyTo(pages, 0);
        return pages;
    }

    /**
     * Adds the pages to those that were seen, and counts the ones that were among them already or that do not exist. Pages
     * that were never taken out are added as one run, so that an unused memory costs no look at each of them.
     *
     * @param numPages number of the last page that exists; the first one is 1
     */
    int addTo(BitSet seen, int numPages) {
        int numBad = addTo(seen, front, numPages) + addTo(seen, back, numPages);
        if (firstNew < endOfNew) {
            numBad += Math.max(0, 1 - firstNew) + Math.max(0, endOfNew - 1 - numPages);
            for (int page = seen.nextSetBit(firstNew); page >= 0 && page < endOfNew; page = seen.nextSetBit(page + 1)) {
                numBad++;
            }
            seen.set(firstNew, endOfNew);
        }
        return numBad;
    }

    private static int addTo(BitSet seen, PageRing pages, int numPages) {
        int numBad = 0;
        for (int i = 0; i < pages.size(); i++) {
            int page = pages.get(i);
            numBad += page < 1 || page > numPages || seen.get(page) ? 1 : 0;
            seen.set(page);
        }
        return numBad;
    }

    private void copyTo(int[] pages, int offset) {
        int at = offset;
        for (int i = 0; i < front.size(); i++) {
            pages[at++] = front.get(i);
        }
        for (int page = firstNew; page < endOfNew; page++) {
            pages[at++] = page;
        }
        for (int i = 0; i < back.size(); i++) {
            pages[at++] = back.get(i);
        }
    }
}
