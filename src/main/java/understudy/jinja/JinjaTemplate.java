package understudy.jinja;

import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import understudy.jinja.python.Arguments;
import understudy.jinja.python.Callable;
import understudy.jinja.python.JinjaException;
import understudy.jinja.python.Namespace;
import understudy.jinja.python.None;
import understudy.jinja.python.Numbers;
import understudy.jinja.python.Text;
import understudy.jinja.python.TimeFormat;
import understudy.jinja.python.Values;

/**
 * A chat template, parsed once. Thread-safe.
 *
 * <p>Values are Python's: {@link None#NONE}, {@code Boolean}, {@code Long}, {@code BigInteger} beyond that, {@code
 * Double}, {@code String}, {@code List}, and {@code Map}, none of which a template can change.
 */
public final class JinjaTemplate {
    private static final int MOST_RANGE = 100_000;

    private final Statement body;
    private final boolean readsContentParts;

    private JinjaTemplate(Statement body, boolean readsContentParts) {
        this.body = body;
        this.readsContentParts = readsContentParts;
    }

    /**
     * Parses a template.
     *
     * @throws JinjaException if it is none; the message begins with the line
     */
    public static JinjaTemplate parse(String source) {
        try {
            var parser = new TemplateParser(source);
            var body = parser.parse();
            return new JinjaTemplate(body, ContentFormat.readsParts(parser.assignments(), parser.loops()));
        } catch (StackOverflowError e) {
            throw new JinjaException("nested too deeply");
        }
    }

    /** Returns whether it goes through the parts of a content, rather than taking it for text. */
    public boolean readsContentParts() {
        return readsContentParts;
    }

    /**
     * Renders a prompt.
     *
     * @param numInputChars length of what the variables hold, which bounds what the template may do
     * @param now time for those that ask for it
     * @throws JinjaException if the template raises one, or does what Python would not, or too much
     */
    public String render(Map<String, Object> variables, long numInputChars, Supplier<LocalDateTime> now) {
        var globals = new HashMap<String, Object>(functions(now));
        globals.putAll(variables);
        var output = new StringBuilder();
        try {
            body.run(Scope.of(globals, new Budget(numInputChars)), output);
        } catch (StackOverflowError e) {
            throw new JinjaException("maximum recursion depth exceeded");
        } catch (ArithmeticException | ClassCastException | IllegalArgumentException e) {
            throw new JinjaException(String.valueOf(e.getMessage()));
        }
        return output.toString();
    }

    private static Map<String, Callable> functions(Supplier<LocalDateTime> now) {
        return Map.of(
                "range", JinjaTemplate::range,
                "dict", JinjaTemplate::dict,
                "namespace", Namespace::of,
                "strftime_now", arguments -> TimeFormat.write(arguments.text(0, "format"), now.get()),
                "raise_exception",
                        arguments -> {
                            throw new JinjaException(Text.str(arguments.get(0, "message")));
                        });
    }

    private static Object dict(Arguments arguments) {
        var dict = new LinkedHashMap<Object, Object>();
        for (var each : arguments.positional()) {
            if (each instanceof Map<?, ?> map) {
                dict.putAll(map);
            } else {
                for (var pair : Values.items(each)) {
                    dict.put(Values.items(pair).get(0), Values.items(pair).get(1));
                }
            }
        }
        dict.putAll(arguments.named());
        return dict;
    }

    private static Object range(Arguments arguments) {
        boolean hasStart = arguments.positional().size() > 1;
        long start = hasStart ? Numbers.toLong(arguments.get(0, "start"), Integer.MAX_VALUE) : 0;
        long stop = Numbers.toLong(arguments.get(hasStart ? 1 : 0, "stop"), Integer.MAX_VALUE);
        long step = Numbers.toLong(arguments.get(2, "step", 1L), Integer.MAX_VALUE);
        if (step == 0) {
            throw new JinjaException("range() arg 3 must not be zero");
        }
        List<Object> numbers = new ArrayList<>();
        for (long i = start; step > 0 ? i < stop : i > stop; i += step) {
            if (numbers.size() == MOST_RANGE) {
                throw new JinjaException("Range too big. The sandbox blocks ranges larger than MAX_RANGE (100000).");
            }
            numbers.add(i);
        }
        return numbers;
    }
}
