package understudy.fuzz;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import understudy.scenario.ScenarioFile;
import understudy.settings.ScenarioException;
import understudy.settings.Section;

/** Scenarios that were found once. */
final class RunCheckTest {

    /** Replica 1 crashes while it has a request that was preempted before its first token. */
    @Test
    void preemptedRequest_mayMoveToAnotherReplica() throws InterruptedException {
        holds("""
            cluster.replicas = 4
            engine.max-num-batched-tokens = 44
            kv-cache { block-size = 8, num-gpu-blocks = 17 }
            latency { model = roofline, gpu = l4, llm = llama-3.1-8b }
            workload {
              requests = 23
              arrivals.request-rate = inf
              lengths { prompt { kind = uniform, max = 32 }, output.max = 42 }
              prefix-groups { count = 3, length { kind = uniform, max = 21 } }
            }
            faults { on-crash = reroute, plan = [{ at = 1242ms, do = crash, replica = 1 }] }
            """);
    }

    /** A prompt is preempted where it is computed for another replica. */
    @Test
    void promptForAnotherReplica_mayBePreempted() throws InterruptedException {
        holds("""
            cluster.groups = [{ name = prefill, replicas = 1, role = prefill }, { name = decode, replicas = 1, role = decode }]
            engine { async-scheduling = false, long-prefill-token-threshold = 4 }
            kv-cache { block-size = 4, num-gpu-blocks = 58 }
            workload { requests = 2, lengths.prompt { mean = 65, stddev = 63 } }
            """);
    }

    /** All that run preempt each other, and their blocks are free only when the steps in flight are over. */
    @Test
    void freesThatWait_areFreeInTheEnd() throws InterruptedException {
        holds("""
            cluster.groups = [{ name = prefill, replicas = 2, role = prefill }, { name = decode, replicas = 1, role = decode }]
            kv-cache.num-gpu-blocks = 64
            router.disaggregation.decider = conditional
            workload { requests = 3, lengths.prompt { kind = fixed, mean = 364 } }
            """);
    }

    /** Requests whose KV has come hold the blocks that the one before them needs. */
    @Test
    void shortestJob_doesNotWaitForThoseBehindIt() throws InterruptedException {
        holds("""
            cluster.groups = [{ name = prefill, replicas = 1, role = prefill }, { name = decode, replicas = 1, role = decode }]
            engine { max-num-seqs = 1, scheduling-policy = sjf }
            kv-cache { block-size = 2, num-gpu-blocks = 77 }
            workload { kind = burst, requests = 6, lengths.prompt { mean = 3, stddev = 20 } }
            """);
    }

    /** Replica 0 crashes while its plan, in which a request was preempted, waits for a store to host memory. */
    @Test
    void preemptionOfAPlanThatIsCutOff_counts() throws InterruptedException {
        holds("""
            kv-cache { num-gpu-blocks = 9, tiers.host { bandwidth = 0.001, tokens = 98 } }
            workload {
              requests = 8
              arrivals.request-rate = 200
              lengths { prompt { mean = 28, stddev = 42 }, output { mean = 44, stddev = 30 } }
            }
            faults.plan = [{ at = 2902ms, do = crash, replica = 0 }]
            """);
    }

    /** Requests that load their KV from host memory at a time hold blocks that the one that runs needs for its next token. */
    @Test
    void loadsThatBegin_leaveRoomForTheOneThatRuns() throws InterruptedException {
        holds("""
            cluster.groups = [{ name = prefill, replicas = 1, role = prefill }, { name = both, replicas = 2, role = both }]
            engine.max-num-seqs = 5
            kv-cache { block-size = 4, num-gpu-blocks = 5, transfer.load-failure-policy = fail }
            kv-cache.tiers.host { bandwidth = 0.001, offload-prompt-only = false, tokens = 1909 }
            latency { model = profile, api-delay = 0ms }
            router.admission.rate-limit.rate = 100
            seed = 846708
            workload {
              requests = 56
              max-concurrency = 13
              ignore-eos = false
              arrivals { kind = constant, request-rate = 20 }
              lengths.prompt { kind = fixed, mean = 2 }
              lengths.output { kind = exponential, mean = 6, max = 8 }
              prefix-groups.length { kind = fixed, mean = 2 }
            }
            """);
    }

    /** Each load from host memory fails: the request computes what it could not load, and does not ask for it again. */
    @Test
    void hostWhoseLinkFailsForGood_isDoneWithout() throws InterruptedException {
        holds("""
            engine.enable-chunked-prefill = false
            kv-cache { block-size = 2, num-gpu-blocks = 9, transfer.load-failure-policy = recompute }
            kv-cache.tiers.host { offload-prompt-only = false, tokens = 1373 }
            latency.linear.per-step = 100ms
            workload {
              requests = 30
              max-concurrency = 9
              arrivals.request-rate = 20
              lengths.prompt { kind = exponential, mean = 2, max = 8 }
              lengths.output { kind = fixed, mean = 6 }
            }
            faults.plan = [{ at = 1529ms, do = fail-transfers, replica = 0, link = host, rate = 1 }]
            """);
    }

    @Test
    void refusedScenario_isNoFailure() {
        assertThatThrownBy(() -> holds("kv-cache { block-size = 1, num-gpu-blocks = 2 }"))
                .isInstanceOf(ScenarioException.class);
    }

    private static void holds(String scenario) throws InterruptedException {
        var given = Section.of(scenario).withFallback(Section.of("latency.model = linear"));
        var merged = new ScenarioFile(Map.of()).load(given);

        assertThat(new Fuzzer(1, List.of(new RunCheck())).failure(merged)).isEmpty();
    }
}
