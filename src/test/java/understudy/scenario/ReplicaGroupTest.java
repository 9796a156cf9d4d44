package understudy.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.cluster.ReplicaSpec;
import understudy.settings.Section;

/** The list {@code cluster.groups}. */
final class ReplicaGroupTest {
    private static final String TWO = """
        engine { max-num-seqs = 100, max-model-len = 4000 }
        kv-cache.num-gpu-blocks = 1000
        cluster.groups = [
          { name = small, replicas = 2, kv-cache { num-gpu-blocks = 500 } }
          { name = fast, replicas = 1, latency { linear { per-step = 0ms, per-token = 10us, per-decode-seq = 0us } } }
        ]
        latency.model = linear
        latency.linear { per-step = 0ms, per-token = 20us, per-decode-seq = 0us, per-kv-token = 0ns }
        """;

    @Test
    void group_differsInWhatItSays() {
        var scenario = read(TWO);
        var spec = scenario.clusterSpec(null, false);

        assertThat(scenario.numReplicas()).isEqualTo(3);
        assertThat(spec.replicas())
                .extracting(replica -> replica.traits().group())
                .containsExactly("small", "small", "fast");
        assertThat(spec.replicas())
                .extracting(replica -> replica.kvCache().numGpuBlocks())
                .containsExactly(500, 500, 1000);
        assertThat(spec.replicas())
                .extracting(ReplicaSpec::engineTraits)
                .containsOnly(scenario.engine().traits());
        assertThat(scenario.maxModelLen()).isEqualTo(4000);
    }

    /** A token takes 20 us on the small ones and 10 us on the fast one, and nothing else takes time. */
    @Test
    void weight_isTheRatioOfPrefillRates() {
        var replicas = read(TWO).clusterSpec(null, false).replicas();

        assertThat(replicas.get(0).traits().weight()).isEqualTo(1);
        assertThat(replicas.get(2).traits().weight()).isCloseTo(2, within(1e-9));
    }

    @Test
    void weight_mayBeSet() {
        var replicas = read("cluster.groups = [{ name = a, weight = 3.5 }, { name = b, weight = 1 }]")
                .clusterSpec(null, false)
                .replicas();

        assertThat(replicas).extracting(replica -> replica.traits().weight()).containsExactly(3.5, 1.0);
    }

    @Test
    void resolvedScenario_saysWhatAutoStandsFor() {
        var config = config(TWO);
        var resolved = Scenario.read(config).resolve(config).sections("cluster.groups");

        assertThat(resolved.get(0).text("kv-cache.num-gpu-blocks")).isEqualTo("500");
        assertThat(resolved.get(1).text("kv-cache.num-gpu-blocks")).isEqualTo("1000");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "[{ replicas = 2 }] | cluster.groups.0.name is \"\", must be letters in lower case, digits and hyphens",
                "[{ name = a }, { name = a }] | cluster.groups.1.name is \"a\", which another group has, too",
                "[{ name = a, replicas = -1 }] | cluster.groups.0.replicas is -1, must be from 0 to 100000",
                "[{ name = a, replicas = 0 }] | which have no replica",
                "[{ name = a, weight = 0 }] | cluster.groups.0.weight is 0, must be a number above 0",
                "[{ name = a, engine { max-num-sequs = 8 } }] | unknown key cluster.groups.0.engine.max-num-sequs; did"
                        + " you mean engine.max-num-seqs?",
                "[{ name = a, router { policy = random } }] | unknown key cluster.groups.0.router; a group has name,",
                "[{ name = a, engine { max-num-seqs = 0 } }] | cluster.groups.0.engine.max-num-seqs is 0",
                "3 | cluster.groups is 3"
            })
    void mistake_isSaidWithItsPlace(String groups, String message) {
        assertThatThrownBy(() -> read("cluster.groups = " + groups)).hasMessageContaining(message);
    }

    @Test
    void numberOfAllReplicas_mayNotBeSetBeside() {
        assertThatThrownBy(() -> read("cluster { replicas = 4, groups = [{ name = a }] }"))
                .hasMessageContaining("cluster.replicas is 4, but each of cluster.groups says how many it has");
    }

    /** 500 blocks of 16 tokens, one of them the null block, hold 7,984 tokens, and 1,000 blocks 15,984. */
    @Test
    void longestSequence_mustBeTheSame() {
        String groups = "cluster.groups = [{ name = a, kv-cache { num-gpu-blocks = 500 } },"
                + " { name = b, kv-cache { num-gpu-blocks = 1000 } }]\n";

        assertThatThrownBy(() -> read(groups))
                .hasMessageContaining("max-model-len is 7984 in a and 15984 in b; set engine.max-model-len");
        assertThat(read(groups + "engine.max-model-len = 7984").maxModelLen()).isEqualTo(7984);
    }

    /** Hashes of blocks of 16 and 32 tokens cannot be compared, which only matters to those who read KV events. */
    @Test
    void kvEvents_needEqualBlocks() {
        String groups = "cluster.groups = [{ name = a }, { name = b, kv-cache { block-size = 32 } }]\n";

        assertThat(read(groups + "router.policy = least-outstanding").numReplicas())
                .isEqualTo(2);
        assertThatThrownBy(() -> read(groups + "router.policy = prefix-aware"))
                .hasMessageContaining("the same kv-cache.block-size");
    }

    private static Scenario read(String settings) {
        return Scenario.read(config(settings));
    }

    private static Section config(String settings) {
        return new ScenarioFile(Map.of()).load(Section.of(settings));
    }
}
