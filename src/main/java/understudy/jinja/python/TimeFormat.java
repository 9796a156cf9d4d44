package understudy.jinja.python;

import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** C's {@code strftime}, in English. */
public final class TimeFormat {
    private TimeFormat() {}

    public static String write(String format, LocalDateTime time) {
        var text = new StringBuilder();
        for (int i = 0; i < format.length(); i++) {
            char c = format.charAt(i);
            if (c != '%' || i + 1 == format.length()) {
                text.append(c);
                continue;
            }
            char kind = format.charAt(++i);
            boolean isShort = kind == '-' && i + 1 < format.length();
            if (isShort) {
                kind = format.charAt(++i);
            }
            text.append(field(kind, isShort, time));
        }
        return text.toString();
    }

    private static String field(char kind, boolean isShort, LocalDateTime time) {
        String pattern = pattern(kind);
        if (pattern.isEmpty()) {
            return "%" + kind;
        }
        String written = DateTimeFormatter.ofPattern(pattern, Locale.ENGLISH).format(time);
        return isShort && written.startsWith("0") && written.length() > 1 ? written.substring(1) : written;
    }

    private static String pattern(char kind) {
        return switch (kind) {
            case 'Y' -> "yyyy";
            case 'y' -> "yy";
            case 'm' -> "MM";
            case 'd' -> "dd";
            case 'e' -> "ppd";
            case 'j' -> "DDD";
            case 'B' -> "MMMM";
            case 'b', 'h' -> "MMM";
            case 'A' -> "EEEE";
            case 'a' -> "EEE";
            case 'H' -> "HH";
            case 'I' -> "hh";
            case 'M' -> "mm";
            case 'S' -> "ss";
            case 'f' -> "SSSSSS";
            case 'p' -> "a";
            case 'F' -> "yyyy-MM-dd";
            case 'T', 'X' -> "HH:mm:ss";
            case 'D', 'x' -> "MM/dd/yy";
            case 'R' -> "HH:mm";
            case 'c' -> "EEE MMM ppd HH:mm:ss yyyy";
            case 'n' -> "'\n'";
            case 't' -> "'\t'";
            case '%' -> "'%'";
            default -> "";
        };
    }
}
