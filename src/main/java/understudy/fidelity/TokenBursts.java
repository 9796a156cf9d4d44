package understudy.fidelity;

import it.unimi.dsi.fastutil.doubles.DoubleArrayList;
import it.unimi.dsi.fastutil.doubles.DoubleList;
import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.ints.IntList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Bursts of tokens: all that a step of an engine samples comes at about the same time, and from each answer at most once.
 *
 * @param spreadNanos longest pause within a burst
 * @param nanos when each burst began
 * @param tokens of each burst
 * @param indexes of the bursts that have the tokens of each answer
 */
record TokenBursts(double spreadNanos, DoubleList nanos, List<List<Token>> tokens, List<IntList> indexes) {
    private static final double LARGEST_SPREAD = 0.2;
    private static final double MEDIAN = 0.5;

    /** Token of an answer, from 0. */
    record Token(int answer, int index, double nanos) {}

    static TokenBursts of(List<AnswerTimes> answers) {
        var nanos = new DoubleArrayList();
        var bursts = new ArrayList<List<Token>>();
        List<IntList> indexes =
                answers.stream().<IntList>map(answer -> new IntArrayList()).toList();
        double spread = spread(answers);
        var seen = new HashSet<Integer>();
        double last = Double.NEGATIVE_INFINITY;
        for (var token : sorted(answers)) {
            if (token.nanos - last > spread || seen.contains(token.answer)) {
                bursts.add(new ArrayList<>());
                nanos.add(token.nanos);
                seen.clear();
            }
            last = token.nanos;
            seen.add(token.answer);
            bursts.get(bursts.size() - 1).add(token);
            indexes.get(token.answer).add(bursts.size() - 1);
        }
        return new TokenBursts(spread, nanos, bursts, indexes);
    }

    private static List<Token> sorted(List<AnswerTimes> answers) {
        return IntStream.range(0, answers.size())
                .boxed()
                .flatMap(i -> tokens(i, answers.get(i)))
                .sorted(Comparator.comparingDouble(Token::nanos))
                .toList();
    }

    private static Stream<Token> tokens(int answer, AnswerTimes times) {
        return IntStream.range(0, times.tokenNanos().size())
                .mapToObj(i -> new Token(answer, i, times.tokenNanos().getDouble(i)));
    }

    /** A part of the time that the usual step takes. */
    private static double spread(List<AnswerTimes> answers) {
        double[] gaps = answers.stream()
                .map(AnswerTimes::tokenNanos)
                .flatMapToDouble(times ->
                        IntStream.range(1, times.size()).mapToDouble(i -> times.getDouble(i) - times.getDouble(i - 1)))
                .sorted()
                .toArray();
        return gaps.length == 0 ? 0 : gaps[(int) (MEDIAN * gaps.length)] * LARGEST_SPREAD;
    }

    int size() {
        return tokens.size();
    }

    /** Returns the first burst after a time; one behind the last if there is none. */
    int firstAfter(double atNanos) {
        int found = Arrays.binarySearch(nanos.toDoubleArray(), atNanos);
        return found >= 0 ? found + 1 : -found - 1;
    }
}
