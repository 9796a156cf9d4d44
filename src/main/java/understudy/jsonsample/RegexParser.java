package understudy.jsonsample;

import java.util.ArrayList;
import understudy.jsonsample.RegexNode.Anchor;
import understudy.jsonsample.RegexNode.Characters;
import understudy.jsonsample.RegexNode.Choice;
import understudy.jsonsample.RegexNode.Repeat;
import understudy.jsonsample.RegexNode.Sequence;

/**
 * Reads regular expressions as JSON schemas and vLLM have them: literals, classes, groups, alternatives and counts.
 * Anchors and boundaries of words have no text, and stand for nothing, as for xgrammar. Lookaround and backreferences
 * are refused with an {@link IllegalArgumentException}.
 */
final class RegexParser {
    private static final int MAX_LENGTH = 1000;
    private static final int MAX_DEPTH = 50;

    private final String pattern;
    private int at;
    private int depth;

    private RegexParser(String pattern) {
        this.pattern = pattern;
    }

    /** Returns the parsed expression. */
    static RegexNode parse(String pattern) {
        if (pattern.length() > MAX_LENGTH) {
            throw new IllegalArgumentException("it has more than " + MAX_LENGTH + " characters");
        }
        var parser = new RegexParser(pattern);
        var node = parser.choice();
        if (parser.at < pattern.length()) {
            throw new IllegalArgumentException("unmatched ')'");
        }
        return node;
    }

    private RegexNode choice() {
        var alternatives = new ArrayList<RegexNode>();
        alternatives.add(sequence());
        while (accept("|")) {
            alternatives.add(sequence());
        }
        return alternatives.size() == 1 ? alternatives.get(0) : Choice.of(alternatives);
    }

    private RegexNode sequence() {
        var parts = new ArrayList<RegexNode>();
        while (at < pattern.length() && !looksAt("|") && !looksAt(")")) {
            parts.add(quantified(atom()));
        }
        return Sequence.of(parts);
    }

    private RegexNode atom() {
        if (accept("(")) {
            return group();
        }
        if (accept("[")) {
            return new Characters(new RegexClasses(pattern, at).read(end -> at = end));
        }
        if (accept("^")) {
            return new Anchor(true);
        }
        if (accept("$")) {
            return new Anchor(false);
        }
        if (accept("\\b") || accept("\\B")) {
            return new Anchor(true);
        }
        if (accept(".")) {
            return new Characters(RegexClasses.ANY);
        }
        if (looksAt("*") || looksAt("+") || looksAt("?")) {
            throw new IllegalArgumentException("nothing to repeat at character " + at);
        }
        return new Characters(new RegexClasses(pattern, at).readOne(end -> at = end));
    }

    private RegexNode group() {
        if (++depth > MAX_DEPTH) {
            throw new IllegalArgumentException("groups are nested deeper than " + MAX_DEPTH);
        }
        if (accept("?")) {
            accept("P");
            boolean isNamed = looksAt("<") && !looksAt("<=") && !looksAt("<!");
            if (!isNamed && !accept(":")) {
                throw new IllegalArgumentException("lookaround and flags are not supported");
            }
            int end = pattern.indexOf('>', at);
            at = isNamed && end > 0 ? end + 1 : at;
        }
        var inner = choice();
        if (!accept(")")) {
            throw new IllegalArgumentException("unterminated group");
        }
        depth--;
        return inner;
    }

    private RegexNode quantified(RegexNode part) {
        int min;
        int max;
        if (accept("?")) {
            min = 0;
            max = 1;
        } else if (accept("*")) {
            min = 0;
            max = -1;
        } else if (accept("+")) {
            min = 1;
            max = -1;
        } else if (accept("{")) {
            String[] counts = counts();
            min = Integer.parseInt(counts[0]);
            max = counts.length == 1 ? min : counts[1].isEmpty() ? -1 : Integer.parseInt(counts[1]);
        } else {
            return part;
        }
        accept("?");
        if (part instanceof Anchor || (max >= 0 && max < min) || looksAt("+") || looksAt("*")) {
            throw new IllegalArgumentException("nothing to repeat at character " + at);
        }
        return new Repeat(part, min, max);
    }

    private String[] counts() {
        int end = Math.max(at, pattern.indexOf('}', at));
        String counts = pattern.substring(at, end);
        if (!counts.matches("[0-9]{1,9}(,[0-9]{0,9})?")) {
            throw new IllegalArgumentException("bad count at character " + at);
        }
        at = end + 1;
        return counts.split(",", -1);
    }

    private boolean looksAt(String text) {
        return pattern.startsWith(text, at);
    }

    private boolean accept(String text) {
        boolean isThere = looksAt(text);
        at += isThere ? text.length() : 0;
        return isThere;
    }
}
