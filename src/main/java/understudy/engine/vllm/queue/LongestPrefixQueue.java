package understudy.engine.vllm.queue;

import it.unimi.dsi.fastutil.HashCommon;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * SGLang's {@code lpm} ({@code managers/schedule_policy.py}): in every step the waiting requests are sorted by how much
 * of their prompt is cached, most first. A request with next to nothing cached that begins like one before it goes last
 * in this step, so that the first of them runs and the others hit its prefix. With more than 128 waiting it is first
 * come, first served.
 *
 * <p>It differs from SGLang in one way: what is cached counts in whole blocks, since that is what can be shared here.
 */
final class LongestPrefixQueue<R extends QueuedRequest> implements RequestQueue<R> {
    private static final int MAX_SORTED = 128;

    /** Cached tokens up to which a request is compared with those before it. */
    private static final int CHECK_THRESHOLD = 32;

    /** Equal leading tokens from which on it has to wait for the other one. */
    private static final int DEPRIORITIZE_THRESHOLD = 32;

    private final ArrayList<R> queue = new ArrayList<>();

    /** The order of this step; empty when it is that of {@link #queue}. */
    private final ArrayList<R> sorted = new ArrayList<>();

    @Override
    public List<R> toMatch() {
        sorted.clear();
        return queue.size() > MAX_SORTED ? List.of() : queue;
    }

    @Override
    public void onMatched(IntList numCachedTokens) {
        var ranks = new ArrayList<Rank<R>>(queue.size());
        var beginnings = new LongOpenHashSet();
        for (int i = 0; i < queue.size(); i++) {
            var request = queue.get(i);
            boolean isCold = numCachedTokens.getInt(i) <= CHECK_THRESHOLD;
            boolean waitsForOther = isCold && !addBeginning(request, beginnings);
            ranks.add(new Rank<>(request, waitsForOther ? Integer.MAX_VALUE : -numCachedTokens.getInt(i)));
        }
        ranks.sort(Comparator.comparingInt(Rank::key));
        ranks.forEach(rank -> sorted.add(rank.request));
    }

    /** A request and its place in the step's order, smallest first. */
    private record Rank<T>(T request, int key) {}

    /** Returns false if a request with the same first tokens was added before; short prompts begin like no other. */
    private boolean addBeginning(R request, LongOpenHashSet beginnings) {
        var tokens = request.promptTokens();
        if (tokens.length() < DEPRIORITIZE_THRESHOLD) {
            return true;
        }
        var beginning = new int[DEPRIORITIZE_THRESHOLD];
        tokens.copy(0, beginning.length, beginning, 0);
        return beginnings.add(hash(beginning));
    }

    private static long hash(int[] tokens) {
        long hash = 0;
        for (int token : tokens) {
            hash = HashCommon.mix(hash + token + 1);
        }
        return hash;
    }

    @Override
    public @Nullable R peek() {
        if (!sorted.isEmpty()) {
            return sorted.get(0);
        }
        return queue.isEmpty() ? null : queue.get(0);
    }

    @Override
    public void pop() {
        remove(Objects.requireNonNull(peek()));
    }

    @Override
    public void add(R request) {
        queue.add(request);
    }

    @Override
    public void prepend(R request) {
        queue.add(0, request);
    }

    @Override
    public void remove(R request) {
        queue.remove(request);
        sorted.remove(request);
    }

    @Override
    public List<R> inOrder() {
        return List.copyOf(sorted.isEmpty() ? queue : sorted);
    }

    @Override
    public int size() {
        return queue.size();
    }

    @Override
    public boolean goesBefore(R head, R otherHead) {
        return true;
    }
}
