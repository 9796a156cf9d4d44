package understudy.jsonsample;

import it.unimi.dsi.fastutil.ints.IntList;
import java.util.BitSet;
import java.util.function.IntConsumer;
import java.util.function.IntPredicate;

/** The characters that single characters, escapes and classes in brackets of a regular expression stand for. */
final class RegexClasses {
    private static final int NUM_CODE_POINTS = Character.MAX_CODE_POINT + 1;
    private static final BitSet DIGIT = range('0', '9');
    private static final BitSet WORD = matching(c -> Character.isLetterOrDigit(c) || c == '_', 0x7F);
    private static final BitSet SPACE = range(' ', ' ');
    private static final BitSet PLAIN = matching(Character::isLetterOrDigit, 0x7F);
    private static final BitSet PRINTABLE = range(' ', '~');
    private static final BitSet LATIN = range(0xA1, 0x17F);

    /** Characters that a dot stands for. */
    static final IntList ANY = drawable(range('a', 'z'));

    private final String pattern;
    private int at;

    RegexClasses(String pattern, int at) {
        this.pattern = pattern;
        this.at = at;
    }

    /** Reads the class behind an opening bracket, and tells where it ends. */
    IntList read(IntConsumer end) {
        var set = new BitSet();
        boolean isNegated = accept('^');
        while (!accept(']')) {
            var first = one();
            boolean isRange = first.cardinality() == 1 && peek(0) == '-' && peek(1) != ']';
            if (isRange) {
                at++;
                var last = one();
                set.or(range(first.nextSetBit(0), last.length() - 1));
            } else {
                set.or(first);
            }
        }
        end.accept(at);
        return drawable(isNegated ? complement(set) : set);
    }

    /** Reads a single character or an escape, and tells where it ends. */
    IntList readOne(IntConsumer end) {
        var set = one();
        end.accept(at);
        return drawable(set);
    }

    private BitSet one() {
        int c = pattern.codePointAt(requireMore());
        at += Character.charCount(c);
        return c == '\\' ? escape() : range(c, c);
    }

    private BitSet escape() {
        char c = pattern.charAt(requireMore());
        at++;
        return switch (c) {
            case 'd' -> DIGIT;
            case 'D' -> complement(DIGIT);
            case 'w' -> WORD;
            case 'W' -> complement(WORD);
            case 's' -> SPACE;
            case 'S' -> complement(SPACE);
            case 't' -> range('\t', '\t');
            case 'n' -> range('\n', '\n');
            case 'r' -> range('\r', '\r');
            case 'f' -> range('\f', '\f');
            case 'v' -> range(0x0B, 0x0B);
            case 'x' -> hexadecimal(2);
            case 'u' -> hexadecimal(4);
            case 'p' -> property();
            default -> literal(c);
        };
    }

    private static BitSet literal(char c) {
        if (Character.isLetterOrDigit(c)) {
            throw new IllegalArgumentException("'\\" + c + "' is not supported");
        }
        return range(c, c);
    }

    private BitSet hexadecimal(int numDigits) {
        int end = Math.min(pattern.length(), at + numDigits);
        String digits = pattern.substring(at, end);
        if (!digits.matches("[0-9a-fA-F]{" + numDigits + "}")) {
            throw new IllegalArgumentException("bad escape at character " + at);
        }
        at = end;
        int c = Integer.parseInt(digits, 16);
        return range(c, c);
    }

    private BitSet property() {
        int end = Math.max(at, pattern.indexOf('}', at) + 1);
        String name = pattern.substring(at, end);
        at = end;
        return switch (name) {
            case "{L}", "{Letter}", "{Alphabetic}" -> matching(Character::isLetter, 0x7F);
            case "{Lu}", "{Uppercase_Letter}" -> range('A', 'Z');
            case "{Ll}", "{Lowercase_Letter}" -> range('a', 'z');
            case "{N}", "{Nd}", "{Number}" -> DIGIT;
            default -> throw new IllegalArgumentException("'\\p" + name + "' is not supported");
        };
    }

    /** Returns letters and digits out of the set if it has any, and other characters if not. */
    private static IntList drawable(BitSet set) {
        for (var liked : new BitSet[] {PLAIN, PRINTABLE, set}) {
            var both = (BitSet) liked.clone();
            both.and(set);
            if (!both.isEmpty()) {
                return IntList.of(both.stream().toArray());
            }
        }
        throw new IllegalArgumentException("a class matches no character");
    }

    /** Returns the printable characters that are not in the set. */
    private static BitSet complement(BitSet set) {
        var rest = (BitSet) PRINTABLE.clone();
        rest.or(LATIN);
        rest.andNot(set);
        return rest;
    }

    private static BitSet matching(IntPredicate isIn, int last) {
        var set = new BitSet();
        for (int c = 0; c <= last; c++) {
            set.set(c, isIn.test(c));
        }
        return set;
    }

    private static BitSet range(int first, int last) {
        if (first > last || last >= NUM_CODE_POINTS) {
            throw new IllegalArgumentException("a range is out of order");
        }
        var set = new BitSet();
        set.set(first, last + 1);
        return set;
    }

    private boolean accept(char c) {
        boolean isThere = pattern.charAt(requireMore()) == c;
        at += isThere ? 1 : 0;
        return isThere;
    }

    private int peek(int ahead) {
        return at + ahead < pattern.length() ? pattern.charAt(at + ahead) : -1;
    }

    private int requireMore() {
        if (at >= pattern.length()) {
            throw new IllegalArgumentException("it ends too early");
        }
        return at;
    }
}
