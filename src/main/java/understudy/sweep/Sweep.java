package understudy.sweep;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Runs a plan: each point once, whatever asks for it, and not again if its result is known from before. */
public final class Sweep implements AutoCloseable {
    private final SweepPlan plan;
    private final PointExecutor executor;
    private final @Nullable SweepJournal journal;
    private final Map<String, CompletableFuture<PointResult>> results = new ConcurrentHashMap<>();
    private final AtomicInteger numDone = new AtomicInteger();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final int numKnown;

    /** @param journal keeps results from one time to the next; null if nothing does */
    public Sweep(SweepPlan plan, PointExecutor executor, @Nullable SweepJournal journal) {
        this.plan = plan;
        this.executor = executor;
        this.journal = journal;
        if (journal != null) {
            journal.known().forEach((name, result) -> results.put(name, CompletableFuture.completedFuture(result)));
        }
        numKnown = results.size();
    }

    /** Starts everything; the rows come in the order of the combinations, those that were given up are cancelled. */
    public List<CompletableFuture<SweepRow>> start() {
        return plan.combinations().stream()
                .map(point -> plan.search()
                        .map(search -> new Bisection(search, point).start())
                        .orElseGet(() -> run(point)))
                .toList();
    }

    /**
     * Runs one combination more, with all seeds of the plan.
     *
     * @param point without a seed; its settings need not be those of the plan's variations
     */
    public CompletableFuture<SweepRow> run(SweepPoint point) {
        return runs(point).thenApply(runs -> row(point, runs));
    }

    private static SweepRow row(SweepPoint point, List<PointResult> runs) {
        return new SweepRow(point, runs, List.of(), Optional.empty());
    }

    /** Returns how many runs have ended since {@link #start}. */
    public int numDone() {
        return numDone.get();
    }

    /** Returns how many results were known from before. */
    public int numKnown() {
        return numKnown;
    }

    /** Returns the place of the runs under way, for the line of progress; empty if there is nothing to say. */
    public String status() {
        return executor.status();
    }

    /** Throws the exception of the first run that failed, if one has; the others were given up then. */
    public void requireNoFailure() {
        var thrown = failure.get();
        if (thrown != null) {
            throw thrown instanceof RuntimeException cause ? cause : new CompletionException(thrown);
        }
    }

    /** Closes the file of results. */
    @Override
    public void close() throws IOException {
        if (journal != null) {
            journal.close();
        }
    }

    private CompletableFuture<List<PointResult>> runs(SweepPoint combination) {
        var futures = plan.withSeeds(combination).stream().map(this::result).toList();
        return CompletableFuture.allOf(futures.toArray(CompletableFuture[]::new))
                .thenApply(done -> futures.stream().map(CompletableFuture::join).toList());
    }

    private CompletableFuture<PointResult> result(SweepPoint point) {
        var known = results.get(point.name());
        if (known != null) {
            return known;
        }
        var result = executor.submit(point).thenApply(this::keep).whenComplete(this::stopAtFailure);
        results.put(point.name(), result);
        return result;
    }

    /** The same mistake would mostly come again, and the results that are there are kept. */
    private void stopAtFailure(@Nullable PointResult result, @Nullable Throwable thrown) {
        var cause = thrown instanceof CompletionException wrapped ? wrapped.getCause() : thrown;
        if (cause != null && !(cause instanceof CancellationException) && failure.compareAndSet(null, cause)) {
            executor.stop();
        }
    }

    private synchronized PointResult keep(PointResult result) {
        try {
            if (journal != null) {
                journal.add(result);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        numDone.incrementAndGet();
        return result;
    }

    /** Search in one combination. */
    private final class Bisection {
        private final Search search;
        private final SweepPoint combination;
        private final List<SweepRow.Trial> tried = new ArrayList<>();

        Bisection(Search search, SweepPoint combination) {
            this.search = search;
            this.combination = combination;
        }

        CompletableFuture<SweepRow> start() {
            return attempt(search.easiest())
                    .thenCompose(easy -> isGood(easy)
                            ? attempt(search.hardest())
                                    .thenCompose(hard -> isGood(hard)
                                            ? end(search.hardest(), hard, SweepRow.Border.BEYOND)
                                            : narrow(search.easiest(), easy, search.hardest()))
                            : end(search.easiest(), easy, SweepRow.Border.NOWHERE));
        }

        private CompletableFuture<List<PointResult>> attempt(BigDecimal value) {
            return runs(at(value)).thenApply(runs -> {
                tried.add(new SweepRow.Trial(Variation.plain(value), isGood(runs)));
                return runs;
            });
        }

        private SweepPoint at(BigDecimal value) {
            return combination.with(search.key(), Variation.plain(value));
        }

        private boolean isGood(List<PointResult> runs) {
            return runs.stream().allMatch(PointResult::isGood);
        }

        private CompletableFuture<SweepRow> narrow(BigDecimal good, List<PointResult> runs, BigDecimal bad) {
            if (search.isDone(good, bad)) {
                return end(good, runs, SweepRow.Border.FOUND);
            }
            var middle = search.between(good, bad);
            return attempt(middle)
                    .thenCompose(found -> isGood(found) ? narrow(middle, found, bad) : narrow(good, runs, middle));
        }

        private CompletableFuture<SweepRow> end(BigDecimal value, List<PointResult> runs, SweepRow.Border border) {
            return CompletableFuture.completedFuture(
                    new SweepRow(at(value), runs, List.copyOf(tried), Optional.of(border)));
        }
    }
}
