package understudy.jinja.python;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Operator on two values. */
public interface Operator {
    /** Operators that calculate, by their signs. */
    Map<String, Operator> ARITHMETIC = Map.of(
            "+", Operator::add,
            "-", Operator::subtract,
            "*", Operator::multiply,
            "/", (left, right) -> calculated("/", left, right),
            "//", (left, right) -> calculated("//", left, right),
            "%",
                    (left, right) -> left instanceof String format
                            ? Formats.percent(format, right)
                            : calculated("%", left, right),
            "**", (left, right) -> calculated("**", left, right));

    /** Operators that compare, by their signs. */
    Map<String, Operator> COMPARING = Map.of(
            "==", Values::areEqual,
            "!=", (left, right) -> !Values.areEqual(left, right),
            "<", (left, right) -> Values.compare(left, right, "<") < 0,
            "<=", (left, right) -> Values.compare(left, right, "<=") <= 0,
            ">", (left, right) -> Values.compare(left, right, ">") > 0,
            ">=", (left, right) -> Values.compare(left, right, ">=") >= 0,
            "in", (left, right) -> Values.contains(right, left),
            "not in", (left, right) -> !Values.contains(right, left));

    int MOST_POWER = 10_000;
    int MOST_REPEATED = 1 << 24;

    Object apply(Object left, Object right);

    /** Returns the value with the other sign. */
    static Object negative(Object value) {
        if (value instanceof Undefined undefined) {
            throw undefined.failure();
        }
        if (!Numbers.isNumber(value)) {
            throw new JinjaException("bad operand type for unary -: '" + Values.typeName(value) + "'");
        }
        return value instanceof Double number ? (Object) (-number) : subtract(0L, value);
    }

    static Object subtract(Object left, Object right) {
        return calculated("-", left, right);
    }

    static Object add(Object left, Object right) {
        if (left instanceof String text && right instanceof String other) {
            return text.concat(other);
        }
        boolean areSame = left instanceof Tuple == right instanceof Tuple;
        if (left instanceof List<?> list && right instanceof List<?> others && areSame) {
            var both = new ArrayList<Object>(list.size() + others.size());
            both.addAll(list);
            both.addAll(others);
            return left instanceof Tuple ? new Tuple(both) : both;
        }
        boolean concatenates = left instanceof String || left instanceof List;
        if (!concatenates || right instanceof Undefined) {
            return calculated("+", left, right);
        }
        String type = Values.typeName(left);
        throw new JinjaException(
                "can only concatenate " + type + " (not \"" + Values.typeName(right) + "\") to " + type);
    }

    private static Object multiply(Object left, Object right) {
        boolean isRepeated = left instanceof String || left instanceof List;
        if (!isRepeated && (right instanceof String || right instanceof List)) {
            return multiply(right, left);
        }
        if (!isRepeated) {
            return calculated("*", left, right);
        }
        if (!Numbers.isInteger(right)) {
            throw Values.either(left, right)
                    .orElse(new JinjaException(
                            "can't multiply sequence by non-int of type '" + Values.typeName(right) + "'"));
        }
        int times = (int) Math.max(0, Numbers.toLong(right, MOST_REPEATED));
        if (times * Math.max(1, Values.length(left)) > MOST_REPEATED) {
            throw new JinjaException("a repeated value has at most " + MOST_REPEATED + " items");
        }
        if (left instanceof String text) {
            return text.repeat(times);
        }
        var repeated = new ArrayList<Object>();
        for (int i = 0; i < times; i++) {
            repeated.addAll(Values.items(left));
        }
        return left instanceof Tuple ? new Tuple(repeated) : repeated;
    }

    private static Object calculated(String sign, Object left, Object right) {
        if (!Numbers.isNumber(left) || !Numbers.isNumber(right)) {
            throw Values.either(left, right)
                    .orElse(new JinjaException(
                            "unsupported operand type(s) for " + (sign.equals("**") ? "** or pow()" : sign) + ": '"
                                    + Values.typeName(left) + "' and '" + Values.typeName(right) + "'"));
        }
        boolean areWhole = Numbers.isInteger(left) && Numbers.isInteger(right);
        if (!areWhole || sign.equals("/")) {
            return real(sign, Numbers.toDouble(left), Numbers.toDouble(right));
        }
        return whole(sign, Numbers.toBig(left), Numbers.toBig(right));
    }

    private static Object real(String sign, double left, double right) {
        boolean divides = sign.equals("/") || sign.equals("//") || sign.equals("%");
        if (divides && right == 0) {
            throw new JinjaException("division by zero");
        }
        return switch (sign) {
            case "+" -> left + right;
            case "-" -> left - right;
            case "*" -> left * right;
            case "/" -> left / right;
            case "//" -> Math.floor(left / right);
            case "%" -> left - right * Math.floor(left / right);
            default -> Math.pow(left, right);
        };
    }

    private static Object whole(String sign, BigInteger left, BigInteger right) {
        boolean isTooLong = left.bitLength() + right.bitLength() > MOST_POWER;
        if (isTooLong) {
            throw new JinjaException("the numbers at " + sign + " are too large");
        }
        return switch (sign) {
            case "+" -> Numbers.ofBig(left.add(right));
            case "-" -> Numbers.ofBig(left.subtract(right));
            case "*" -> Numbers.ofBig(left.multiply(right));
            case "**" -> power(left, right);
            default -> divided(sign, left, right);
        };
    }

    /** Divides as Python does, which rounds down. */
    private static Object divided(String sign, BigInteger left, BigInteger right) {
        boolean isRest = sign.equals("%");
        if (right.signum() == 0) {
            throw new JinjaException(isRest ? "integer modulo by zero" : "integer division or modulo by zero");
        }
        var rest = left.mod(right.abs());
        var signed = right.signum() < 0 && rest.signum() > 0 ? rest.add(right) : rest;
        return Numbers.ofBig(isRest ? signed : left.subtract(signed).divide(right));
    }

    private static Object power(BigInteger base, BigInteger exponent) {
        if (exponent.signum() < 0) {
            return Math.pow(base.doubleValue(), exponent.doubleValue());
        }
        if (exponent.bitLength() > 31 || exponent.longValue() * Math.max(1, base.bitLength()) > MOST_POWER) {
            throw new JinjaException("the numbers at ** are too large");
        }
        return Numbers.ofBig(base.pow(exponent.intValue()));
    }
}
