package understudy.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** Writes how rows compare: the smallest values of one against those of another. */
final class BenchRatios {
    private BenchRatios() {}

    /** Returns a line for each pair of rows that differ in the program, or in one size, alone. */
    static List<String> lines(List<BenchRow> rows) {
        var lines = new ArrayList<String>();
        for (int i = 0; i < rows.size(); i++) {
            for (int j = i + 1; j < rows.size(); j++) {
                compare(rows.get(i), rows.get(j), lines);
            }
        }
        return lines;
    }

    private static void compare(BenchRow a, BenchRow b, List<String> lines) {
        if (a.mode != b.mode) {
            return;
        }
        if (a.program.equals(b.program) && a.run.growsTo(b.run)) {
            lines.add(line(a.program.name() + ", " + a.jvm() + ": " + b.run.name() + " against " + a.run.name(), b, a));
        }
        if (a.run.equals(b.run)) {
            String digests = a.stepDigest.equals(b.stepDigest) ? ", equal digests" : ", DIFFERENT digests";
            lines.add(line(nameOf(a) + ": " + a.program.name() + " against " + b.program.name(), a, b) + digests);
        }
    }

    private static String nameOf(BenchRow row) {
        return row.run.name() + ", " + row.jvm();
    }

    private static String line(String what, BenchRow row, BenchRow base) {
        return String.format(
                Locale.ROOT,
                "%s: wall x %.2f, CPU x %.2f, RSS x %.2f",
                what,
                ratio(row, base, each -> BenchRow.min(each.wallSeconds)),
                ratio(row, base, each -> BenchRow.min(each.cpuSeconds)),
                ratio(row, base, each -> BenchRow.max(each.rssMegabytes)));
    }

    private static double ratio(BenchRow row, BenchRow base, ToDoubleFunction<BenchRow> value) {
        return value.applyAsDouble(row) / value.applyAsDouble(base);
    }
}
