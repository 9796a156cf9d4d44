package understudy.jsonsample;

import com.networknt.schema.regex.RegularExpression;
import com.networknt.schema.regex.RegularExpressionFactory;
import com.networknt.schema.regex.RegularExpressions;
import java.util.regex.Pattern;

/**
 * Regular expressions of one schema with a common limit on search steps: for some patterns and texts a backtracking
 * search would practically never end.
 */
public final class BoundedPatterns implements RegularExpressionFactory {
    private static final int MAX_PATTERN_LENGTH = 2000;
    private static final long MAX_STEPS = 2_000_000;

    /** Beginning of a group with a name, as Python writes it. */
    private static final Pattern PYTHON_NAME = Pattern.compile("(?<!\\\\)\\(\\?P<\\w+>");

    private long numSteps;

    @Override
    public RegularExpression getRegularExpression(String regex) {
        if (regex.length() > MAX_PATTERN_LENGTH) {
            throw new IllegalArgumentException("a pattern has more than " + MAX_PATTERN_LENGTH + " characters");
        }
        String unnamed = PYTHON_NAME.matcher(regex).replaceAll("(");
        var pattern = compile(RegularExpressions.replaceLongformCharacterProperties(
                RegularExpressions.replaceDollarAnchors(unnamed)));
        return text -> find(pattern, text);
    }

    private static Pattern compile(String regex) {
        try {
            return Pattern.compile(regex);
        } catch (StackOverflowError e) {
            throw new IllegalArgumentException("a pattern is nested too deeply", e);
        }
    }

    private boolean find(Pattern pattern, String text) {
        try {
            return pattern.matcher(new Counted(text)).find();
        } catch (StackOverflowError | IllegalStateException e) {
            throw tooHard(pattern);
        }
    }

    private static RefusedSchemaException tooHard(Pattern pattern) {
        return new RefusedSchemaException("The pattern " + pattern + " takes too many steps to match.", "pattern");
    }

    /** Text that counts its reads, which are all that a search does. */
    private final class Counted implements CharSequence {
        private final CharSequence text;

        Counted(CharSequence text) {
            this.text = text;
        }

        @Override
        public char charAt(int index) {
            if (++numSteps > MAX_STEPS) {
                throw new IllegalStateException("too many steps");
            }
            return text.charAt(index);
        }

        @Override
        public int length() {
            return text.length();
        }

        @Override
        public CharSequence subSequence(int start, int end) {
            return text.subSequence(start, end);
        }

        @Override
        public String toString() {
            return text.toString();
        }
    }
}
