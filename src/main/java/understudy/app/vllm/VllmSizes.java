package understudy.app.vllm;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import understudy.settings.ScenarioException;

/**
 * Whole numbers as vLLM's {@code human_readable_int} has them: 8k is 8000 and may have a fraction, 8K is 8192 and may not;
 * likewise m, g, t. {@code auto} and -1 leave the size to the engine.
 */
final class VllmSizes {
    private static final Pattern SIZE = Pattern.compile("(?<number>\\d{1,18}(?:\\.\\d{1,9})?)(?<unit>[kmgtKMGT])?");
    private static final Map<String, Integer> EXPONENTS = Map.of("k", 1, "m", 2, "g", 3, "t", 4);
    private static final String AUTO = "auto";

    private VllmSizes() {}

    /**
     * Returns the number without a unit.
     *
     * @param flag named in the error
     */
    static String plain(String flag, String text) {
        if (text.equals(AUTO) || text.equals("-1")) {
            return AUTO;
        }
        var match = SIZE.matcher(text.strip());
        if (!match.matches()) {
            throw wrong(flag, text);
        }
        String unit = match.group("unit") == null ? "" : match.group("unit");
        boolean isBinary = !unit.isEmpty() && Character.isUpperCase(unit.charAt(0));
        int exponent = unit.isEmpty() ? 0 : EXPONENTS.getOrDefault(unit.toLowerCase(Locale.ROOT), 0);
        String number = match.group("number");
        if (number.indexOf('.') >= 0 && (isBinary || exponent == 0)) {
            throw wrong(flag, text);
        }
        var factor = BigInteger.valueOf(isBinary ? 1024 : 1000).pow(exponent);
        return new BigDecimal(number)
                .multiply(new BigDecimal(factor))
                .toBigInteger()
                .toString();
    }

    private static ScenarioException wrong(String flag, String text) {
        boolean isOfTokens = flag.contains("-len") || flag.contains("-tokens") || flag.contains("-threshold");
        return new ScenarioException(flag + " " + text + ": must be a whole number, such as "
                + (isOfTokens ? "8192, 8k (8000), 8K (8192), 25.6k or 1M" : "1 or 8"));
    }
}
