package understudy.jsonsample;

import it.unimi.dsi.fastutil.ints.IntList;
import java.util.List;
import org.apache.commons.rng.UniformRandomProvider;

/** A part of a regular expression, which can make up texts that match it. */
sealed interface RegexNode {
    /** Length of a text without an upper limit. */
    long ENDLESS = 1L << 40;

    long minLength();

    long maxLength();

    /**
     * Appends a text of {@code least} to {@code most} characters, as nearly as the part allows.
     *
     * @param depth how deep the part is in repetitions: the deeper, the fewer
     */
    void write(Range range, int depth, UniformRandomProvider random, StringBuilder out);

    /** Length range of a text, both ends inclusive. */
    record Range(long least, long most) {

        /** Returns the range left for one part if others need between {@code min} and {@code max}. */
        Range without(long min, long max) {
            return new Range(Math.max(0, least - max), Math.max(0, most - min));
        }

        boolean meets(RegexNode node) {
            return node.minLength() <= most && node.maxLength() >= least;
        }
    }

    /** The beginning or the end of the text. */
    record Anchor(boolean isStart) implements RegexNode {
        @Override
        public long minLength() {
            return 0;
        }

        @Override
        public long maxLength() {
            return 0;
        }

        @Override
        public void write(Range range, int depth, UniformRandomProvider random, StringBuilder out) {}
    }

    /** One character out of several. */
    record Characters(IntList codePoints) implements RegexNode {
        @Override
        public long minLength() {
            return 1;
        }

        @Override
        public long maxLength() {
            return 1;
        }

        @Override
        public void write(Range range, int depth, UniformRandomProvider random, StringBuilder out) {
            out.appendCodePoint(codePoints.getInt(random.nextInt(codePoints.size())));
        }
    }

    /** Several parts in a row. */
    record Sequence(List<RegexNode> parts, long minLength, long maxLength) implements RegexNode {
        static Sequence of(List<RegexNode> parts) {
            return new Sequence(
                    List.copyOf(parts),
                    parts.stream().mapToLong(RegexNode::minLength).reduce(0, RegexNode::sum),
                    parts.stream().mapToLong(RegexNode::maxLength).reduce(0, RegexNode::sum));
        }

        @Override
        public void write(Range range, int depth, UniformRandomProvider random, StringBuilder out) {
            var behind = behind();
            for (int i = 0; i < parts.size(); i++) {
                int before = out.length();
                parts.get(i).write(range.without(behind[i].least(), behind[i].most()), depth, random, out);
                int written = out.length() - before;
                range = range.without(written, written);
            }
        }

        /** Returns how long the text behind each part may be. */
        private Range[] behind() {
            var behind = new Range[parts.size()];
            long min = 0;
            long max = 0;
            for (int i = parts.size() - 1; i >= 0; i--) {
                behind[i] = new Range(min, max);
                min = sum(min, parts.get(i).minLength());
                max = sum(max, parts.get(i).maxLength());
            }
            return behind;
        }
    }

    /** One of several parts. */
    record Choice(List<RegexNode> parts, long minLength, long maxLength) implements RegexNode {
        static Choice of(List<RegexNode> parts) {
            return new Choice(
                    List.copyOf(parts),
                    parts.stream().mapToLong(RegexNode::minLength).min().orElse(0),
                    parts.stream().mapToLong(RegexNode::maxLength).max().orElse(0));
        }

        @Override
        public void write(Range range, int depth, UniformRandomProvider random, StringBuilder out) {
            var fitting = parts.stream().filter(range::meets).toList();
            var from = fitting.isEmpty() ? parts : fitting;
            from.get(random.nextInt(from.size())).write(range, depth, random, out);
        }
    }

    /**
     * A part several times.
     *
     * @param max most times, or -1 for any number
     */
    record Repeat(RegexNode part, int min, int max) implements RegexNode {
        private static final int MORE = 4;

        @Override
        public long minLength() {
            return product(part.minLength(), min);
        }

        @Override
        public long maxLength() {
            if (part.maxLength() == 0) {
                return 0;
            }
            return max < 0 ? ENDLESS : product(part.maxLength(), max);
        }

        @Override
        public void write(Range range, int depth, UniformRandomProvider random, StringBuilder out) {
            // A part that may be empty need not be written as often as it must be there.
            long least = part.minLength() == 0 ? 0 : min;
            long needed = part.maxLength() == 0 ? 0 : ceilDiv(range.least(), part.maxLength());
            long most = max < 0 ? Integer.MAX_VALUE : max;
            long room = part.minLength() == 0 ? most : range.most() / part.minLength();
            long from = Math.min(most, Math.max(least, needed));
            long more = Math.max(0, Math.min(most, room) - from);
            long times = from + random.nextLong(Math.min(more, Math.max(0, MORE - 2L * depth)) + 1);
            for (long left = times - 1; left >= 0; left--) {
                int before = out.length();
                part.write(
                        range.without(product(part.minLength(), left), product(part.maxLength(), left)),
                        depth + 1,
                        random,
                        out);
                int written = out.length() - before;
                range = range.without(written, written);
            }
        }
    }

    private static long sum(long left, long right) {
        return Math.min(ENDLESS, left + right);
    }

    private static long product(long length, long times) {
        return length == 0 || times <= ENDLESS / length ? length * times : ENDLESS;
    }

    private static long ceilDiv(long dividend, long divisor) {
        return (dividend + divisor - 1) / divisor;
    }
}
