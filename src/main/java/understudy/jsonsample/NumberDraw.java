package understudy.jsonsample;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.List;
import org.apache.commons.rng.UniformRandomProvider;
import org.jspecify.annotations.Nullable;

/** Makes up numbers within bounds: whole ones, which every client can read, unless the schema asks for fractions. */
record NumberDraw(SchemaParts parts, boolean isWhole, UniformRandomProvider random) {
    /** Attempts at a schema after which fractions are tried: it may refuse whole numbers in ways not looked at here. */
    private static final int WHOLE_ATTEMPTS = 8;

    private static final int MAX_DIGITS = 400;
    private static final BigDecimal EIGHT = BigDecimal.valueOf(8);
    private static final BigDecimal SPAN = BigDecimal.valueOf(99);

    /**
     * Returns a number that the schema accepts.
     *
     * @param attempt how many attempts at the schema have failed
     */
    static JsonNode draw(SchemaParts parts, boolean isInteger, int attempt, UniformRandomProvider random) {
        var drawn = new NumberDraw(parts, attempt < WHOLE_ATTEMPTS, random).draw(isInteger);
        return drawn.scale() <= 0 && drawn.precision() - drawn.scale() < 19
                ? JsonNodeFactory.instance.numberNode(drawn.longValueExact())
                : JsonNodeFactory.instance.numberNode(drawn.setScale(Math.max(0, drawn.scale())));
    }

    private BigDecimal draw(boolean isInteger) {
        var min = strictest("minimum", 1);
        var max = strictest("maximum", -1);
        var above = strictest("exclusiveMinimum", 1);
        var below = strictest("exclusiveMaximum", -1);
        var low = above == null || (min != null && min.compareTo(above) > 0) ? min : above;
        var high = below == null || (max != null && max.compareTo(below) < 0) ? max : below;
        var step = step(isInteger);
        var span = SPAN.max(step.multiply(SPAN));
        if (low == null) {
            low = high == null || high.compareTo(BigDecimal.ONE.max(step)) >= 0 ? BigDecimal.ONE : high.subtract(span);
        }
        if (high == null) {
            high = low.add(span);
        }
        return step.signum() == 0
                ? between(low, high, equal(low, above) || equal(high, below))
                : multiple(low, high, step, above, below);
    }

    /** Returns a number of which both bounds differ if it must not be one of them. */
    private BigDecimal between(BigDecimal low, BigDecimal high, boolean isOpen) {
        if (low.compareTo(high) > 0 || (isOpen && low.compareTo(high) == 0)) {
            throw new NoSampleException("maximum", "it leaves no room above the minimum");
        }
        var first = low.setScale(0, RoundingMode.CEILING);
        first = isOpen && first.compareTo(low) == 0 ? first.add(BigDecimal.ONE) : first;
        var last = high.setScale(0, RoundingMode.FLOOR);
        last = isOpen && last.compareTo(high) == 0 ? last.subtract(BigDecimal.ONE) : last;
        // A range such as that of a probability asks for what lies within it.
        boolean hasRoom = isWhole && high.subtract(low).compareTo(BigDecimal.ONE) > 0 && first.compareTo(last) <= 0;
        if (hasRoom) {
            int span = last.subtract(first).min(SPAN).intValue();
            return first.add(BigDecimal.valueOf(random.nextInt(span + 1)));
        }
        var eighths = BigDecimal.valueOf(1 + random.nextInt(7));
        return low.add(high.subtract(low).multiply(eighths).divide(EIGHT)).stripTrailingZeros();
    }

    private BigDecimal multiple(
            BigDecimal low, BigDecimal high, BigDecimal step, @Nullable BigDecimal above, @Nullable BigDecimal below) {
        var first = low.divide(step, 0, RoundingMode.CEILING).toBigInteger();
        var last = high.divide(step, 0, RoundingMode.FLOOR).toBigInteger();
        if (equal(low, above) && step.multiply(new BigDecimal(first)).compareTo(low) == 0) {
            first = first.add(BigInteger.ONE);
        }
        if (equal(high, below) && step.multiply(new BigDecimal(last)).compareTo(high) == 0) {
            last = last.subtract(BigInteger.ONE);
        }
        if (first.compareTo(last) > 0) {
            throw new NoSampleException("multipleOf", "no multiple lies between the bounds");
        }
        int span = last.subtract(first).min(BigInteger.valueOf(99)).intValue();
        return step.multiply(new BigDecimal(first.add(BigInteger.valueOf(random.nextInt(span + 1)))));
    }

    /** Returns the step of which all numbers are multiples, or 0 if there is none. */
    private BigDecimal step(boolean isInteger) {
        var step = isInteger ? BigDecimal.ONE : BigDecimal.ZERO;
        for (var next : numbers("multipleOf")) {
            step = step.signum() == 0 ? next.abs() : leastCommonMultiple(step, next.abs());
            if (step.precision() > MAX_DIGITS) {
                throw new NoSampleException("multipleOf", "");
            }
        }
        return step;
    }

    private static boolean equal(BigDecimal number, @Nullable BigDecimal bound) {
        return bound != null && number.compareTo(bound) == 0;
    }

    private static BigDecimal leastCommonMultiple(BigDecimal one, BigDecimal other) {
        if (other.signum() == 0) {
            throw new NoSampleException("multipleOf", "");
        }
        int scale = Math.max(one.scale(), other.scale());
        var left = one.movePointRight(scale).toBigIntegerExact();
        var right = other.movePointRight(scale).toBigIntegerExact();
        return new BigDecimal(left.divide(left.gcd(right)).multiply(right)).movePointLeft(scale);
    }

    /** Returns the largest value of a keyword, or the least one if {@code sign} is negative. */
    private @Nullable BigDecimal strictest(String keyword, int sign) {
        BigDecimal strictest = null;
        for (var number : numbers(keyword)) {
            strictest = strictest == null || number.compareTo(strictest) * sign > 0 ? number : strictest;
        }
        return strictest;
    }

    private List<BigDecimal> numbers(String keyword) {
        return parts.all(keyword).stream()
                .filter(JsonNode::isNumber)
                .map(node -> number(keyword, node))
                .toList();
    }

    /** Numbers that are too long to calculate with are refused. */
    private static BigDecimal number(String keyword, JsonNode node) {
        if (node.isFloatingPointNumber() && !Double.isFinite(node.doubleValue())) {
            throw new NoSampleException(keyword, "the number is out of range");
        }
        var number = node.decimalValue().stripTrailingZeros();
        if (number.precision() > MAX_DIGITS || Math.abs(number.scale()) > MAX_DIGITS) {
            throw new NoSampleException(keyword, "the number is out of range");
        }
        return number;
    }
}
