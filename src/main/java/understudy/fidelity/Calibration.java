package understudy.fidelity;

import java.util.List;
import java.util.stream.Stream;
import understudy.settings.Section;

/**
 * Result of a fit.
 *
 * @param table residuals, for people
 * @param device the fitted device, in the form of a GPU file
 * @param warnings reservations about the fit, a line each
 */
public record Calibration(String table, Section device, List<String> warnings) {

    /** Returns the same with a further warning. */
    Calibration with(String warning) {
        return new Calibration(
                table,
                device,
                Stream.concat(warnings.stream(), Stream.of(warning)).toList());
    }
}
