package understudy.engine.vllm;

import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import understudy.settings.Section;

/** Known bug of some versions of vLLM's scheduler, which is there only where a scenario names it. */
public enum KnownBug {
    /** See {@link AdmissionStop}. */
    ADMISSION_STOPS,

    /** See {@link SkippedRequest}. */
    SKIPPED_RUNNING_REQUEST;

    private static final String KEY = "known-bugs";

    static Set<KnownBug> read(Section engine) {
        var bugs = EnumSet.noneOf(KnownBug.class);
        for (String name : engine.texts(KEY)) {
            bugs.add(Stream.of(values())
                    .filter(bug -> Section.nameOf(bug).equals(name.replace('_', '-')))
                    .findFirst()
                    .orElseThrow(() -> engine.unusable(
                            KEY,
                            "which vLLM has under these names: "
                                    + Stream.of(values()).map(Section::nameOf).collect(Collectors.joining(", ")))));
        }
        return bugs;
    }
}
