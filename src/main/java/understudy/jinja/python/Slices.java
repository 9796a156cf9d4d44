package understudy.jinja.python;

import java.util.ArrayList;
import java.util.List;

/** Parts of sequences by Python's rules: negative positions count from the end, positions outside are cut. */
public final class Slices {
    private Slices() {}

    /** Returns an item of a list or a text, or null if there is none at that position. */
    public static @org.jspecify.annotations.Nullable Object item(Object sequence, long index) {
        long length = Values.length(sequence);
        long at = index < 0 ? index + length : index;
        if (at < 0 || at >= length) {
            return null;
        }
        if (sequence instanceof String text) {
            int start = text.offsetByCodePoints(0, (int) at);
            return Character.toString(text.codePointAt(start));
        }
        return Values.items(sequence).get((int) at);
    }

    /** Returns the part of a list, a tuple or a text; bounds that are not given are {@code None}. */
    public static Object of(Object sequence, Object from, Object to, Object by) {
        int step = by == None.NONE ? 1 : (int) Numbers.toLong(by, Integer.MAX_VALUE);
        if (step == 0) {
            throw new JinjaException("slice step cannot be zero");
        }
        int length = (int) Values.length(sequence);
        int first = step > 0 ? 0 : -1;
        int last = step > 0 ? length : length - 1;
        int start = bound(from, length, first, last, step > 0 ? first : last);
        int end = bound(to, length, first, last, step > 0 ? last : first);
        if (sequence instanceof String text && step == 1 && !Strings.hasPairs(text)) {
            return start < end ? text.substring(start, end) : "";
        }
        var part = picked(Values.items(sequence), start, end, step);
        if (sequence instanceof String) {
            return String.join("", part.stream().map(Text::str).toList());
        }
        return sequence instanceof Tuple ? new Tuple(part) : part;
    }

    private static int bound(Object given, int length, int first, int last, int otherwise) {
        if (given == None.NONE) {
            return otherwise;
        }
        long bound = Numbers.toLong(given, Long.MAX_VALUE);
        return (int) Math.max(first, Math.min(last, bound < 0 ? bound + length : bound));
    }

    private static List<Object> picked(List<Object> items, int start, int end, int step) {
        if (step == 1) {
            return start < end ? items.subList(start, end) : List.of();
        }
        var part = new ArrayList<Object>();
        for (long i = start; step > 0 ? i < end : i > end; i += step) {
            part.add(items.get((int) i));
        }
        return part;
    }
}
