package understudy.conform.sglang;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.Objects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Recordings of the real scheduler, every field of every turn. */
final class SglangConformanceTest {

    @ParameterizedTest
    @CsvSource({"scheduler,20,7979", "eagle,12,2899", "swa,10,2636", "hicache,12,2271", "pd,12,3386"})
    void replay_isIdenticalToTheRecordedScheduler(String set, int numWorkloads, int numSteps)
            throws URISyntaxException {
        var name = "/understudy/recordings/sglang-" + set + ".json.gz";
        var file = Path.of(Objects.requireNonNull(SglangConformanceTest.class.getResource(name))
                .toURI());

        var recordings = SglangRecording.readAll(file);

        assertThat(recordings).hasSize(numWorkloads);
        int numIdentical = 0;
        for (var recording : recordings) {
            var result = SglangReplay.replay(recording);
            assertThat(result.difference()).as(recording.name()).isEmpty();
            numIdentical += result.numIdentical();
        }
        assertThat(numIdentical).isEqualTo(numSteps);
    }

    @ParameterizedTest
    @CsvSource({"scheduler,20,7979", "swa,10,2636", "hicache,12,2271", "pd,12,3386", "eagle,12,2899"})
    void replayThroughActors_isIdenticalToTheRecordedScheduler(String set, int numWorkloads, int numSteps)
            throws URISyntaxException {
        var name = "/understudy/recordings/sglang-" + set + ".json.gz";
        var file = Path.of(Objects.requireNonNull(SglangConformanceTest.class.getResource(name))
                .toURI());
        int n = 0;
        for (var recording : SglangRecording.readAll(file)) {
            try {
                var result = SglangActorReplay.replay(recording);
                System.out.println(recording.name() + " "
                        + recording.schedulerConfig().overlaps() + ": " + result.numIdentical() + "/"
                        + result.numSteps() + " " + result.difference().orElse(""));
            } catch (RuntimeException e) {
                System.out.println(recording.name() + ": " + e);
                e.printStackTrace(System.out);
            }
        }
    }
}
