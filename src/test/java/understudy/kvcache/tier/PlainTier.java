package understudy.kvcache.tier;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The rules of a tier once more, with a list for everything and nothing kept that can be counted. */
final class PlainTier {
    static final int WRITING = -1;

    /** What a tier block holds: its number, and its loads or {@link #WRITING}. */
    static final class Entry {
        final int block;
        int users = WRITING;

        Entry(int block) {
            this.block = block;
        }
    }

    private final TierSpec spec;
    private final boolean isLru;
    private final Deque<Integer> freed = new ArrayDeque<>();
    private int numEverUsed;

    final Map<Long, Integer> lookups = new LinkedHashMap<>();

    /** LRU: all entries, in no order that counts. ARC: T1 and T2. */
    final LinkedHashMap<Long, Entry> t1 = new LinkedHashMap<>();

    final LinkedHashMap<Long, Entry> t2 = new LinkedHashMap<>();
    final LinkedHashSet<Long> b1 = new LinkedHashSet<>();
    final LinkedHashSet<Long> b2 = new LinkedHashSet<>();
    final LinkedHashSet<Long> idle = new LinkedHashSet<>();
    double target;

    PlainTier(TierSpec spec) {
        this.spec = spec;
        isLru = spec.policy() == TierPolicy.LRU;
    }

    Entry get(long key) {
        return t1.containsKey(key) ? t1.get(key) : t2.get(key);
    }

    List<Long> keysInBlockOrder() {
        var keys = new ArrayList<>(t1.keySet());
        keys.addAll(t2.keySet());
        keys.sort((one, other) -> get(one).block - get(other).block);
        return keys;
    }

    TierLookup lookup(long key) {
        if (spec.storeThreshold() >= 2) {
            Integer count = lookups.remove(key);
            lookups.put(key, count == null ? 1 : count + 1);
            trim(lookups.keySet(), spec.maxTrackerSize());
        }
        var entry = get(key);
        return entry == null ? TierLookup.MISS : entry.users == WRITING ? TierLookup.PENDING : TierLookup.HIT;
    }

    void touch(List<Long> keys) {
        for (int i = keys.size() - 1; i >= 0; i--) {
            long key = keys.get(i);
            if (isLru) {
                if (idle.remove(key)) {
                    idle.add(key);
                }
            } else if (get(key) != null) {
                var entry = t1.containsKey(key) ? t1.remove(key) : t2.remove(key);
                (entry.users == WRITING ? t1 : t2).put(key, entry);
            } else if (b1.contains(key)) {
                target = Math.min(spec.numBlocks(), target + Math.max(1, (double) b2.size() / b1.size()));
                b1.remove(key);
                b1.add(key);
            } else if (b2.contains(key)) {
                target = Math.max(0, target - Math.max(1, (double) b1.size() / b2.size()));
                b2.remove(key);
                b2.add(key);
            }
        }
    }

    /** Returns the keys stored and the keys evicted, or nothing if the store is refused. */
    Optional<List<List<Long>>> store(List<Long> asked) {
        var keys = new ArrayList<>(asked);
        keys.removeIf(key -> spec.storeThreshold() >= 2 && lookups.getOrDefault(key, 0) < spec.storeThreshold());
        var wanted = new ArrayList<>(keys);
        wanted.removeIf(key -> get(key) != null);
        var victims = victims(wanted.size() - (spec.numBlocks() - t1.size() - t2.size()), new HashSet<>(keys));
        if (victims.isEmpty()) {
            return Optional.empty();
        }
        victims.get().forEach(this::evict);
        for (long key : wanted) {
            t1.put(key, new Entry(numEverUsed < spec.numBlocks() ? numEverUsed++ : freed.pop()));
            b1.remove(key);
            b2.remove(key);
        }
        return Optional.of(List.of(wanted, victims.get()));
    }

    private Optional<List<Long>> victims(int count, Set<Long> spared) {
        var victims = new ArrayList<Long>();
        for (int i = 0; i < count; i++) {
            var taken = new HashSet<>(victims);
            taken.addAll(spared);
            int numT1 =
                    t1.size() - (int) victims.stream().filter(t1::containsKey).count();
            var victim = isLru
                    ? idle.stream().filter(key -> !taken.contains(key)).findFirst()
                    : (numT1 >= (int) target ? firstIdle(t1, taken) : Optional.<Long>empty())
                            .or(() -> firstIdle(t2, taken));
            if (victim.isEmpty()) {
                return Optional.empty();
            }
            victims.add(victim.get());
        }
        return Optional.of(victims);
    }

    private static Optional<Long> firstIdle(Map<Long, Entry> list, Set<Long> taken) {
        return list.keySet().stream()
                .filter(key -> list.get(key).users == 0 && !taken.contains(key))
                .findFirst();
    }

    private void evict(long key) {
        if (!isLru) {
            var ghosts = t1.containsKey(key) ? b1 : b2;
            ghosts.add(key);
            trim(ghosts, spec.numBlocks());
        }
        remove(key);
    }

    void remove(long key) {
        freed.push(get(key).block);
        t1.remove(key);
        t2.remove(key);
        idle.remove(key);
    }

    void load(long key) {
        get(key).users++;
        idle.remove(key);
    }

    /** Ends a store or a load. */
    void complete(long key) {
        var entry = get(key);
        entry.users += entry.users == WRITING ? 1 : -1;
        if (entry.users == 0) {
            idle.add(key);
        }
    }

    private static void trim(Collection<Long> keys, int size) {
        while (keys.size() > size) {
            keys.remove(keys.iterator().next());
        }
    }
}
