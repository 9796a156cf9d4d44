package understudy.evidence;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.app.CommandLineFixture.call;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.List;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;

/** What {@code conf/crash.conf} promises: four of sixteen replicas crash, and nothing is lost or answered twice. */
final class CrashScenarioTest {
    private static final int REQUESTS = 3_360;

    @Test
    void everyRequest_hasOneEndWhateverBecomesOfIt() throws IOException {
        var undisturbed = run("faults.plan=[]");
        var fail = run("faults.on-crash=fail");
        var reroute = run("faults.on-crash=reroute");
        var resume = run("faults.on-crash=resume");

        for (var run : List.of(undisturbed, fail, reroute, resume)) {
            assertThat(run.get("completed").asInt() + run.get("failed").asInt()).isEqualTo(REQUESTS);
        }
        // Some have no token at the crash, most have.
        assertThat(reroute.get("failed").asInt())
                .isPositive()
                .isLessThan(fail.get("failed").asInt());
        assertThat(resume.get("failed").asInt()).isZero();
        // Equal seeds draw equal requests, so that an answer that was resumed has as many tokens as without a crash.
        for (String total : List.of("total_input_tokens", "total_output_tokens")) {
            assertThat(resume.get(total)).isEqualTo(undisturbed.get(total));
        }
        // Every token behind the first of its answer has a gap before it, that over the crash included.
        assertThat(resume.get("num_itl").asLong())
                .isEqualTo(resume.get("total_output_tokens").asLong() - REQUESTS);
    }

    @Test
    void timeline_showsTheCrashAndTheRecovery() throws IOException {
        var report = run("faults.on-crash=fail");
        var timeline = report.get("timeline");

        assertThat(sum(timeline, "arrived")).isEqualTo(REQUESTS);
        for (String outcome : List.of("completed", "failed")) {
            assertThat(sum(timeline, outcome)).isEqualTo(report.get(outcome).asInt());
        }
        // Intervals of 5 s; down at 60 s, started again after 10 s, which takes 20 s.
        for (var interval : timeline) {
            int start = interval.get("start_s").asInt();
            boolean isDown = start >= 60 && start < 90;
            assertThat(interval.get("ready_replicas").asInt()).isEqualTo(isDown ? 12 : 16);
            assertThat(interval.get("failed").asInt() > 0).isEqualTo(start == 60);
        }
    }

    private static int sum(JsonNode timeline, String field) {
        return StreamSupport.stream(timeline.spliterator(), false)
                .mapToInt(interval -> interval.get(field).asInt())
                .sum();
    }

    private static JsonNode run(String setting) throws IOException {
        var run = call("run", "conf/crash.conf", "--set", setting, "--json", "-");
        assertThat(run.exitCode).as(run.err).isZero();
        return run.json();
    }
}
