package understudy.sweep;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import understudy.json.Jackson;
import understudy.scenario.ScenarioFile;
import understudy.settings.Section;

/**
 * Identity of a sweep: the version and all of its scenarios, on which results depend besides the settings of their
 * point.
 */
final class SweepIdentity {
    private SweepIdentity() {}

    /**
     * Returns the first line of a file of results.
     *
     * @param settings of all points
     */
    static ObjectNode of(String version, ScenarioFile files, List<String> scenarios, Map<String, String> settings)
            throws IOException {
        var header = Jackson.mapper().createObjectNode();
        header.put("version", version);
        for (String scenario : scenarios) {
            header.put(scenario, digest(SweepJob.load(files, scenario, settings)));
        }
        return header;
    }

    /** A trace, a table or a model counts with its content. */
    private static String digest(Section merged) throws IOException {
        var digest = InputFiles.sha256();
        digest.update(merged.render().getBytes(StandardCharsets.UTF_8));
        for (String name : merged.texts()) {
            InputFiles.add(digest, name);
        }
        return InputFiles.hex(digest);
    }
}
