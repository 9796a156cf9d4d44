package understudy.replay.cache;

import java.util.Arrays;

/**
 * Circular doubly linked lists over slots, any number of them in the same arrays. A list is known by its head; its tail
 * is the slot before the head, so making the head the tail is only to take the next one for the head.
 */
final class SlotLinks {
    /** The head of an empty list. */
    static final int NONE = -1;

    /** The slot before slot s at 2s, the one behind it at 2s + 1: both in one cache line. */
    private int[] links = {};

    /** Makes room for slots up to {@code numSlots - 1}. */
    void reserve(int numSlots) {
        links = Arrays.copyOf(links, 2 * numSlots);
    }

    int next(int slot) {
        return links[2 * slot + 1];
    }

    /** Adds a slot that is in no list at the end of one, and returns the head. */
    int append(int head, int slot) {
        if (head == NONE) {
            links[2 * slot] = slot;
            links[2 * slot + 1] = slot;
            return slot;
        }
        insertBefore(slot, head);
        return head;
    }

    /** Removes a slot from its list, and returns the head of the rest. */
    int remove(int head, int slot) {
        int next = next(slot);
        if (next == slot) {
            return NONE;
        }
        unlink(slot);
        return slot == head ? next : head;
    }

    /** Moves a slot to the end of its list, and returns the head. */
    int moveToTail(int head, int slot) {
        if (slot == head) {
            return next(slot);
        }
        if (next(slot) != head) {
            unlink(slot);
            insertBefore(slot, head);
        }
        return head;
    }

    /** Adds a slot that is in no list before one that is. */
    void insertBefore(int slot, int successor) {
        int predecessor = links[2 * successor];
        links[2 * slot] = predecessor;
        links[2 * slot + 1] = successor;
        links[2 * predecessor + 1] = slot;
        links[2 * successor] = slot;
    }

    /** Removes a slot from a list of more than one. */
    void unlink(int slot) {
        int previous = links[2 * slot];
        int next = links[2 * slot + 1];
        links[2 * previous + 1] = next;
        links[2 * next] = previous;
    }
}
