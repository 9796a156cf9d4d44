package understudy.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import understudy.faults.FaultPlan.TimedChange;
import understudy.workload.RandomStreams;

final class FaultParserTest {
    private static final long SECOND = 1_000_000_000;

    static Stream<Arguments> kinds() {
        return Stream.of(
                Arguments.of("do=add", new FleetChange.Add()),
                Arguments.of("do=crash,replica=1", new Fault.Crash(1)),
                Arguments.of("do=restart,replica=1", new FleetChange.Restart(1)),
                Arguments.of("do=drain,replica=1", new FleetChange.Drain(1)),
                Arguments.of("do=resume,replica=1", new FleetChange.Resume(1)),
                Arguments.of("do=remove,replica=1", new FleetChange.Remove(1)),
                Arguments.of("do=slow-gpu,replica=1,factor=2.5", new Fault.SlowGpu(1, 2.5)),
                Arguments.of("do=shrink-kv,replica=1,num-gpu-blocks=100", new Fault.ShrinkKv(1, 100)),
                Arguments.of(
                        "do=slow-link,replica=1,link=network,factor=0.5",
                        new Fault.SlowLink(OptionalInt.of(1), Fault.LinkKind.NETWORK, 0.5)),
                Arguments.of(
                        "do=slow-link,link=host,factor=0",
                        new Fault.SlowLink(Fault.ALL_REPLICAS, Fault.LinkKind.HOST, 0)),
                Arguments.of(
                        "do=fail-transfers,link=network,rate=0.1",
                        new Fault.FailTransfers(Fault.ALL_REPLICAS, Fault.LinkKind.NETWORK, 0.1)),
                Arguments.of(
                        "do=fail-transfers,replica=0,link=host,rate=1",
                        new Fault.FailTransfers(OptionalInt.of(0), Fault.LinkKind.HOST, 1)),
                Arguments.of("do=lose-kv,replica=1,share=0.5", new Fault.LoseKv(1, 0.5)),
                Arguments.of("do=error-rate,rate=0.1", new Fault.ErrorRate(Fault.ALL_REPLICAS, 0.1)),
                Arguments.of("do=error-rate,rate=0.1,status=429", new Fault.ErrorRate(Fault.ALL_REPLICAS, 0.1, 429)),
                Arguments.of("do=error-sequence,count=3", new Fault.ErrorSequence(Fault.ALL_REPLICAS, 3)),
                Arguments.of(
                        "do=cut-streams,replica=0,rate=1,after-tokens=5",
                        new Fault.CutStreams(OptionalInt.of(0), 1, 5)),
                Arguments.of(
                        "do=cut-streams,rate=1,after-tokens=5,reset=true",
                        new Fault.CutStreams(Fault.ALL_REPLICAS, 1, 5, true)),
                Arguments.of(
                        "do=malform-streams,rate=0.5,at-token=3", new Fault.MalformStreams(Fault.ALL_REPLICAS, 0.5, 3)),
                Arguments.of("do=latency-spike,delay=1.5ms", new Fault.LatencySpike(Fault.ALL_REPLICAS, 1_500_000)));
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void everyKind_isRead(String text, ClusterChange fault) {
        assertThat(FaultParser.parse(fields(text), 7)).containsExactly(new TimedChange(7, fault));
    }

    @Test
    void duration_isASecondFaultThatEndsTheFirst() {
        assertThat(FaultParser.parseTimed(fields("at=30s,do=crash,replica=1,for=10s")))
                .containsExactly(
                        new TimedChange(30 * SECOND, new Fault.Crash(1)),
                        new TimedChange(40 * SECOND, new FleetChange.Restart(1)));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "do=crash                        | replica is missing",
                "do=slow-link,link=tape,factor=0 | link is \"tape\", must be network or host",
                "do=slow-link,link=host,factor=2 | factor is \"2\", must be from 0.0 to 1.0",
                "do=fail-transfers,link=network,replica=1,rate=1 | unknown key replica for fail-transfers",
                "do=lose-kv,replica=1,share=-1   | share is \"-1\", must be from 0.0 to 1.0",
                "do=krash,replica=0              | do is \"krash\", must be one of add, crash",
                "do=crash,replica=-1             | replica is \"-1\", must be from 0 to 1000000000",
                "do=crash,replica=x              | replica is \"x\", must be a whole number",
                "do=error-rate,rate=1.5          | rate is \"1.5\", must be from 0.0 to 1.0",
                "do=error-rate,rate=NaN          | rate is \"NaN\", must be a number from 0.0 to 1.0",
                "do=malform-streams,rate=1      | at-token is missing",
                "do=cut-streams,rate=1,after-tokens=5,reset=yes | reset is \"yes\", must be true or false",
                "do=latency-spike,delay=5        | delay is \"5\", must be a duration from 0 to 720h with a unit",
                "do=crash,replica=0,factor=2     | unknown key factor for crash; it takes do, for, replica",
                "do=add,for=5s                   | add takes no duration",
            })
    void mistake_isNamed(String text, String message) {
        assertThatThrownBy(() -> FaultParser.parse(fields(text), 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(message);
    }

    @Test
    void plan_isCheckedInOrderOfTime() {
        var crash = new TimedChange(SECOND, new Fault.Crash(0));
        var restart = new TimedChange(3 * SECOND, new FleetChange.Restart(0));
        var again = new TimedChange(4 * SECOND, new FleetChange.Drain(0));

        assertThat(plan(0, restart, crash, again).refusal(1)).isEmpty();
        assertThat(plan(0, restart).refusal(1)).contains("at 3.0 s: Restart: replica 0 is READY");
        assertThat(plan(2 * SECOND, crash, restart, again).refusal(1))
                .contains("at 4.0 s: Drain: replica 0 is STARTING");
        assertThat(plan(0, new TimedChange(0, new Fault.Crash(1))).refusal(1))
                .contains("at 0.0 s: there is no replica 1, only 0 to 0");
        assertThat(plan(0, new TimedChange(0, new FleetChange.Add()), new TimedChange(1, new Fault.Crash(1)))
                        .refusal(1))
                .isEmpty();
    }

    private static FaultPlan plan(long startupNanos, TimedChange... faults) {
        return new FaultPlan(List.of(faults), CrashRetries.NONE, startupNanos, new RandomStreams(1));
    }

    private static Map<String, String> fields(String text) {
        return Stream.of(text.strip().split(","))
                .map(field -> field.split("="))
                .collect(Collectors.toMap(field -> field[0], field -> field[1]));
    }
}
