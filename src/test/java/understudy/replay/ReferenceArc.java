package understudy.replay;

import java.util.ArrayList;
import java.util.List;

/** ARC in four lists, least recently used first, case by case as in the paper's figure 4. */
final class ReferenceArc implements ReferenceCache {
    private final int capacity;
    private final List<Integer> t1 = new ArrayList<>();
    private final List<Integer> t2 = new ArrayList<>();
    private final List<Integer> b1 = new ArrayList<>();
    private final List<Integer> b2 = new ArrayList<>();
    private double p;

    ReferenceArc(int capacity) {
        this.capacity = capacity;
    }

    @Override
    public boolean isResident(int block) {
        return t1.contains(block) || t2.contains(block);
    }

    @Override
    public void access(int id, int request, int position) {
        Integer block = id;
        if (t1.remove(block) || t2.remove(block)) {
            t2.add(block);
        } else if (b1.contains(block)) {
            p = Math.min(capacity, p + Math.max(1, (double) b2.size() / b1.size()));
            replace(false);
            b1.remove(block);
            t2.add(block);
        } else if (b2.contains(block)) {
            p = Math.max(0, p - Math.max(1, (double) b1.size() / b2.size()));
            replace(true);
            b2.remove(block);
            t2.add(block);
        } else {
            makeRoom();
            t1.add(block);
        }
    }

    @Override
    public int size() {
        return t1.size() + t2.size();
    }

    private void makeRoom() {
        if (t1.size() + b1.size() == capacity) {
            if (t1.size() < capacity) {
                b1.remove(0);
                replace(false);
            } else {
                t1.remove(0);
            }
        } else if (t1.size() + t2.size() + b1.size() + b2.size() >= capacity) {
            if (t1.size() + t2.size() + b1.size() + b2.size() == 2 * capacity) {
                b2.remove(0);
            }
            replace(false);
        }
    }

    private void replace(boolean isInB2) {
        if (!t1.isEmpty() && (t1.size() > p || (isInB2 && t1.size() == p))) {
            b1.add(t1.remove(0));
        } else {
            b2.add(t2.remove(0));
        }
    }
}
