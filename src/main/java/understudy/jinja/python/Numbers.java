package understudy.jinja.python;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;

/** Python's numbers: {@code bool} and {@code int} are longs, {@code float} is a double. */
public final class Numbers {
    private static final int FIXED_FROM = -4;
    private static final int FIXED_BELOW = 16;
    private static final int EXACT_DIGITS = 15;
    private static final int MOST_DIGITS = 17;

    private Numbers() {}

    public static boolean isNumber(Object value) {
        return value instanceof Number || value instanceof Boolean;
    }

    public static boolean isInteger(Object value) {
        return value instanceof Long || value instanceof BigInteger || value instanceof Boolean;
    }

    public static Object toNumber(Object value) {
        return value instanceof Boolean flag ? (flag ? 1L : 0L) : value;
    }

    /** Returns a whole number from {@code -most} to {@code most}, and fails with any other value. */
    public static long toLong(Object value, long most) {
        var number = toNumber(value);
        if (value instanceof Undefined undefined) {
            throw undefined.failure();
        }
        if (!(number instanceof Long whole)) {
            throw new JinjaException("'" + Values.typeName(value) + "' object cannot be interpreted as an integer");
        }
        if (whole > most || whole < -most) {
            throw new JinjaException("the number " + whole + " is too large here");
        }
        return whole;
    }

    public static double toDouble(Object value) {
        return toNumber(value) instanceof Number number ? number.doubleValue() : Double.NaN;
    }

    public static int compare(Object left, Object right) {
        var one = toNumber(left);
        var other = toNumber(right);
        if (one instanceof Double || other instanceof Double) {
            return Double.compare(toDouble(one) + 0.0, toDouble(other) + 0.0);
        }
        return toBig(one).compareTo(toBig(other));
    }

    public static BigInteger toBig(Object whole) {
        return whole instanceof BigInteger big ? big : BigInteger.valueOf((Long) toNumber(whole));
    }

    public static Object ofBig(BigInteger value) {
        return value.bitLength() < Long.SIZE ? (Object) value.longValue() : value;
    }

    public static Object parse(String digits) {
        return ofBig(new BigInteger(digits));
    }

    /** Returns Python's {@code repr} of a float: as few digits as tell it from all others. */
    public static String text(double value) {
        if (Double.isNaN(value) || Double.isInfinite(value)) {
            return Double.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
        }
        if (value == 0) {
            return 1 / value < 0 ? "-0.0" : "0.0";
        }
        var shortest = shortest(value).stripTrailingZeros();
        String digits = shortest.unscaledValue().abs().toString();
        int exponent = digits.length() - 1 - shortest.scale();
        String sign = value < 0 ? "-" : "";
        if (exponent < FIXED_FROM || exponent >= FIXED_BELOW) {
            String fraction = digits.length() > 1 ? "." + digits.substring(1) : "";
            String power = (exponent < 0 ? "-" : "+") + (Math.abs(exponent) < 10 ? "0" : "") + Math.abs(exponent);
            return sign + digits.charAt(0) + fraction + "e" + power;
        }
        String plain = shortest.abs().toPlainString();
        return sign + plain + (plain.indexOf('.') < 0 ? ".0" : "");
    }

    private static BigDecimal shortest(double value) {
        var exact = new BigDecimal(value);
        // Of numbers next to zero fewer digits are exact.
        for (int digits = Math.abs(value) < Double.MIN_NORMAL ? 1 : EXACT_DIGITS; digits < MOST_DIGITS; digits++) {
            var rounded = exact.round(new MathContext(digits, RoundingMode.HALF_EVEN));
            if (rounded.doubleValue() == value) {
                return rounded;
            }
        }
        return exact.round(new MathContext(MOST_DIGITS, RoundingMode.HALF_EVEN));
    }
}
