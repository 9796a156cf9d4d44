package understudy.fidelity.probe;

import it.unimi.dsi.fastutil.doubles.DoubleArrayList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import understudy.latency.BatchShape;
import understudy.latency.ProfileFit.Measurement;

/**
 * Steps while the same requests, the observers, decode. Each has a token at the end of each step, so the k-th tokens behind
 * the last of their first ones belong to the same step, and their median time is its end. Steps of decodes alone are equally long but
 * for some tokens of context; their length is the median slope of pairs of ends, some steps apart and with no prompt in between, so
 * that a late token changes next to nothing. A prompt shifts the ends behind it against those before it.
 */
final class SteadySteps {
    private static final int LEAST_STEPS = 6;

    /** Steps whose mean tells a usual one, although a client may see the tokens of two steps at once. */
    private static final int NUM_USUAL = 4;

    /** Ends beside a prompt that are compared; contexts grow little meanwhile. */
    private static final int NUM_COMPARED = 12;

    /** By how much of a step one may be late before it is another kind of step. */
    private static final double MAX_LATENESS = 0.5;

    private final List<ProbedAnswer> observers;
    private final boolean mixes;
    private final double usualNanos;

    /** Index of the token of each observer that the first step has made. */
    private final int[] firstTokens;

    /** Ends of steps. */
    private final double[] ends;

    /**
     * Finds the steps.
     *
     * @param mixes whether the engine computes prompts in the steps of decodes, as vLLM does, and not in between
     */
    SteadySteps(List<ProbedAnswer> observers, boolean mixes) {
        this.observers = observers;
        this.mixes = mixes;
        double start =
                observers.stream().mapToDouble(ProbedAnswer::firstNanos).max().orElseThrow();
        usualNanos = usualNanos(observers.get(0), start);
        firstTokens = observers.stream()
                .mapToInt(answer -> firstToken(answer, start + MAX_LATENESS * usualNanos))
                .toArray();
        ends = ends();
    }

    static double usualNanos(ProbedAnswer answer, double start) {
        var times = answer.tokenNanos();
        double[] gaps = IntStream.range(NUM_USUAL, times.size())
                .filter(i -> times.getDouble(i - NUM_USUAL) >= start)
                .mapToDouble(i -> (times.getDouble(i) - times.getDouble(i - NUM_USUAL)) / NUM_USUAL)
                .toArray();
        return gaps.length == 0 ? 0 : median(gaps);
    }

    private static int firstToken(ProbedAnswer answer, double fromNanos) {
        var times = answer.tokenNanos();
        return (int) times.doubleStream().takeWhile(nanos -> nanos < fromNanos).count();
    }

    /** Tokens of a step that are far apart are not of one step: an observer has paused, and what follows is in doubt. */
    private double[] ends() {
        int numSteps = IntStream.range(0, observers.size())
                .map(j -> observers.get(j).tokenNanos().size() - firstTokens[j])
                .min()
                .orElse(0);
        var found = new DoubleArrayList();
        for (int k = 0; k < numSteps; k++) {
            double[] times = tokensOf(k);
            Arrays.sort(times);
            if (times[times.length - 1] - times[0] > MAX_LATENESS * usualNanos && observers.size() > 1) {
                break;
            }
            found.add(median(times));
        }
        return found.toDoubleArray();
    }

    private double[] tokensOf(int step) {
        return IntStream.range(0, observers.size())
                .mapToDouble(j -> observers.get(j).tokenNanos().getDouble(firstTokens[j] + step))
                .toArray();
    }

    /** A prompt, and the step whose end comes before its own. */
    private record Mark(ProbedAnswer prompt, int step) {}

    /** Returns the measured steps, of decodes alone and with each of the prompts; those in doubt are left out. */
    List<Measurement> measurements(List<ProbedAnswer> prompts) {
        var marks = prompts.stream()
                .map(prompt -> new Mark(prompt, stepBefore(prompt)))
                .filter(mark -> mark.step >= 0 && mark.step + 1 < ends.length)
                .toList();
        int[] borders = marks.stream().mapToInt(Mark::step).sorted().distinct().toArray();
        int from = borders.length == 0 ? 0 : Math.max(0, borders[0] - NUM_COMPARED);
        int last = borders.length == 0 ? from : borders[borders.length - 1];
        int to = Math.min(ends.length - 1, last + NUM_COMPARED);
        if (to - from < LEAST_STEPS) {
            return List.of();
        }
        double[] slopes = slopes(from, to, borders);
        if (slopes.length == 0) {
            return List.of();
        }
        double decodeNanos = median(slopes);
        var measured = new ArrayList<Measurement>();
        measured.add(new Measurement(batch((from + to) / 2).build(), decodeNanos));
        for (var mark : marks) {
            boolean isAlone =
                    marks.stream().filter(other -> other.step == mark.step).count() == 1;
            if (isAlone && isWhole(mark, decodeNanos)) {
                withPrompt(mark, borders).ifPresent(measured::add);
            }
        }
        return measured;
    }

    private int stepBefore(ProbedAnswer prompt) {
        double before = prompt.firstNanos() - MAX_LATENESS * usualNanos;
        return (int) Arrays.stream(ends).takeWhile(nanos -> nanos < before).count() - 1;
    }

    /** Returns the slopes of pairs of ends with no border in between, at least half of what is there apart. */
    private double[] slopes(int first, int last, int[] borders) {
        var slopes = new DoubleArrayList();
        int from = first;
        for (int border : borders) {
            addSlopes(from, Math.min(border, last), slopes);
            from = Math.max(from, border + 1);
        }
        addSlopes(from, last, slopes);
        return slopes.toDoubleArray();
    }

    private void addSlopes(int from, int to, DoubleArrayList slopes) {
        int leastApart = Math.max(1, (to - from) / 2);
        for (int i = from; i <= to; i++) {
            for (int j = i + leastApart; j <= to; j++) {
                slopes.add((ends[j] - ends[i]) / (j - i));
            }
        }
    }

    /** Returns whether the prompt was computed in one step: none before it, since it was sent, was longer than usual. */
    private boolean isWhole(Mark mark, double decodeNanos) {
        double longest = (1 + MAX_LATENESS) * decodeNanos;
        for (int k = mark.step; k > 0 && ends[k] > mark.prompt.sentNanos(); k--) {
            if (ends[k] - ends[k - 1] > longest) {
                return false;
            }
        }
        return true;
    }

    /** Compares with the steps of decodes around it, whose contexts are about as long. */
    private Optional<Measurement> withPrompt(Mark mark, int[] borders) {
        int before = mark.step;
        int place = Arrays.binarySearch(borders, before);
        int from = Math.max(place == 0 ? 0 : borders[place - 1] + 1, before - NUM_COMPARED + 1);
        int to = Math.min(place + 1 == borders.length ? ends.length - 1 : borders[place + 1], before + NUM_COMPARED);
        double[] slopes = slopes(from, to, new int[] {before});
        if (slopes.length == 0) {
            return Optional.empty();
        }
        double decodeNanos = median(slopes);
        double nanos = level(before + 1, to, before + 1, decodeNanos) - level(from, before, before, decodeNanos);
        var batch = mixes ? batch(before + 1) : new BatchShape.Builder();
        int numCached = mark.prompt.numCachedTokens();
        batch.add(mark.prompt.numPromptTokens() - numCached, numCached, true);
        return Optional.of(new Measurement(batch.build(), mixes ? nanos : nanos - decodeNanos));
    }

    /** Returns when a step ended, as the ends of some steps around it say. */
    private double level(int from, int to, int step, double decodeNanos) {
        return median(IntStream.rangeClosed(from, to)
                .mapToDouble(k -> ends[k] - decodeNanos * (k - step))
                .toArray());
    }

    /** A token is computed from the one before it, behind the prompt and the tokens before that. */
    private BatchShape.Builder batch(int step) {
        var batch = new BatchShape.Builder();
        for (int j = 0; j < observers.size(); j++) {
            batch.add(1, observers.get(j).numPromptTokens() + firstTokens[j] + step - 1, true);
        }
        return batch;
    }

    static double median(double[] numbers) {
        var sorted = numbers.clone();
        Arrays.sort(sorted);
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }
}
