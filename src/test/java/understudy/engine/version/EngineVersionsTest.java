package understudy.engine.version;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.settings.Defaults;
import understudy.settings.ScenarioException;
import understudy.settings.Section;

/** Profiles of engines, held against lists that are written by hand from the public threads. */
final class EngineVersionsTest {
    private static final EngineVersions VLLM = EngineVersions.of("vllm").orElseThrow();

    private static final String SMALL = """
            title = X
            versions = [{ name = a, what = "first" }, { name = b }, { name = c, accepts-earlier-flags = true }]
            changes = [
              { since = c, kind = flag-removed, name = old }
              { since = b, kind = flag-removed, name = older }
              { since = b, kind = flag-renamed, name = plain, value = fancy }
              { since = b, kind = metric-added, name = "x:new_total" }
              { since = c, kind = metric-removed, name = "x:old_total" }
              { since = a, kind = default, name = seed, value = 2 }
              { since = b, kind = default, name = seed, value = 3 }
              { since = c, kind = switch, name = seed, value = 2, second-hand = true, effect = "Back.", source = "a thread" }
            ]
            not-known = [{ versions = [b, c], what = "Much." }]
            """;

    static List<String> engines() {
        return EngineVersions.engines();
    }

    @Test
    void versionsOfVllm_areInOrder() {
        assertThat(VLLM.names()).containsExactly("0.27", "recorded", "0.28", "0.29", "0.30", "main");
    }

    /** Flags that the profile does not have, though another has. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            0.27     | enable-mamba-fine-grained-prefix-cache enable-mamba-shared-prefix-checkpoint enable-scale-out \
                       long-prefill-token-threshold-adaptive max-num-active-seqs max-num-queued-reqs max-num-queued-tokens prefix-cache-retention-interval
            recorded | enable-mamba-shared-prefix-checkpoint enable-scale-out long-prefill-token-threshold-adaptive \
                       max-num-active-seqs max-num-queued-reqs max-num-queued-tokens
            0.28     | enable-mamba-shared-prefix-checkpoint enable-scale-out long-prefill-token-threshold-adaptive \
                       max-long-partial-prefills max-num-active-seqs max-num-partial-prefills max-num-queued-reqs \
                       max-num-queued-tokens
            0.29     | enable-mamba-shared-prefix-checkpoint enable-scale-out long-prefill-token-threshold-adaptive \
                       max-long-partial-prefills max-num-active-seqs max-num-partial-prefills
            0.30     | enable-mamba-fine-grained-prefix-cache long-prefill-token-threshold-adaptive \
                       max-long-partial-prefills max-num-active-seqs max-num-partial-prefills
            main     | enable-mamba-fine-grained-prefix-cache max-long-partial-prefills max-num-partial-prefills
            """)
    void flagsOfOtherVersions_areNotThoseOfTheProfile(String version, String flags) {
        assertThat(new TreeSet<>(VLLM.profile(version).otherFlags().keySet())).containsExactly(flags.split("\\s+"));
    }

    /** Families that the profile does not have, though another has. */
    @ParameterizedTest
    @CsvSource({
        "0.27, vllm:admission_rejections_total",
        "recorded, vllm:admission_rejections_total",
        "0.28, vllm:admission_rejections_total",
        "0.29, vllm:admission_rejections_total",
        "0.30, vllm:admission_rejections_total",
        "main,"
    })
    void familiesOfOtherVersions_areNotThoseOfTheProfile(String version, String family) {
        assertThat(VLLM.profile(version).otherMetrics()).isEqualTo(family == null ? Set.of() : Set.of(family));
    }

    @ParameterizedTest
    @CsvSource({"0.27, 0.27.1", "recorded, 0.24.0", "0.28, 0.28.0", "0.29, 0.29.0", "0.30, 0.30.0", "main, 0.30.1rc0"})
    void profile_hasTheTextOfItsRelease(String version, String text) {
        assertThat(VLLM.profile(version).defaults()).containsEntry("server.vllm-version", text);
    }

    /** Settings with other values than in the recorded version, but for the text of its release. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            0.27     | kv-cache.enable-prefix-caching=except-mamba
            recorded | ''
            0.28     | ''
            0.29     | engine.resumed-as-new=true \
                       server.absent-endpoints=[/inference/v1/generate, /v1/chat/completions/render]
            0.30     | engine.resumed-as-new=true \
                       server.absent-endpoints=[/inference/v1/generate, /v1/chat/completions/render]
            main     | engine.cap-lone-prefills=false engine.resumed-as-new=true \
                       server.absent-endpoints=[/inference/v1/generate, /v1/chat/completions/render]
            """)
    void profile_changesThese(String version, String settings) {
        var changed = new TreeMap<>(VLLM.profile(version).defaults());
        changed.remove("server.vllm-version");
        changed.entrySet()
                .removeAll(VLLM.profile(EngineVersions.RECORDED).defaults().entrySet());

        assertThat(changed.entrySet().stream().map(Object::toString).collect(Collectors.joining(" ")))
                .isEqualTo(settings.replaceAll(" +", " "));
    }

    /** What the recorded version sets is what scenarios have without any version. */
    @ParameterizedTest
    @MethodSource("engines")
    void recordedProfile_setsNothingAnew(String engine) {
        var recorded = EngineVersions.of(engine).orElseThrow().profile(EngineVersions.RECORDED);

        assertThat(recorded.defaults())
                .allSatisfy((key, value) ->
                        assertThat(Defaults.SCENARIO.text(key)).as(key).isEqualTo(value));
    }

    @ParameterizedTest
    @MethodSource("engines")
    void everyLine_namesKnownSettings_anEffectAndASource(String engine) {
        var versions = EngineVersions.of(engine).orElseThrow();
        var keys = Defaults.SCENARIO.values().keySet();

        for (var change : versions.profile(versions.names().get(versions.names().size() - 1))
                .changes()) {
            assertThat(keys).as(change.toString()).containsAll(change.concerns());
            assertThat(keys.contains(change.name()))
                    .as(change.toString())
                    .isEqualTo(change.kind().isSetting());
            assertThat(change.effect()).as(change.toString()).endsWith(".");
            assertThat(change.source()).as(change.toString()).isNotEmpty();
            // A public number can be looked up; all else that is later than our recordings is somebody's word.
            assertThat(change.isSecondHand()
                            || change.source().matches("(vllm|sglang) #.*|tags|our recordings|Understudy"))
                    .as(change.toString())
                    .isTrue();
        }
    }

    @Test
    void profile_addsUpAllChangesToItsVersion() {
        var versions = EngineVersions.of("x", SMALL);

        var first = versions.profile("a");
        assertThat(first.what()).isEqualTo("first");
        assertThat(first.defaults()).isEqualTo(Map.of("seed", "2"));
        assertThat(first.otherFlags()).isEqualTo(Map.of("fancy", "was --plain before X b"));
        assertThat(first.otherMetrics()).isEqualTo(Set.of("x:new_total"));
        assertThat(first.notKnown()).isEmpty();

        var second = versions.profile("b");
        assertThat(second.defaults()).isEqualTo(Map.of("seed", "3"));
        assertThat(second.otherFlags())
                .isEqualTo(Map.of("older", "is gone from X b on", "plain", "is --fancy from X b on"));
        assertThat(second.otherMetrics()).isEmpty();

        // The third takes flags of earlier ones.
        var third = versions.profile("c");
        assertThat(third.otherFlags()).isEmpty();
        assertThat(third.otherMetrics()).isEqualTo(Set.of("x:old_total"));
        assertThat(third.description())
                .containsExactly("engine.version = c: ", "second hand: Back. (a thread)", "not known: Much.");
    }

    @Test
    void refusal_saysSinceWhenAFlagIsThere() {
        var profile = VLLM.profile("0.29");

        assertThat(profile.refusal(List.of("port", "enable-scale-out")))
                .contains("--enable-scale-out exists from vLLM 0.30 on; engine.version is 0.29");
        assertThat(profile.refusal(List.of("port"))).isEmpty();
    }

    /** The seed is 2, then 3, then 2 again: nothing changes from a to c but flags and families. */
    @Test
    void diff_hasTheLastOfSeveralChangesOfASetting_unlessNothingIsLeftOfThem() {
        var versions = EngineVersions.of("x", SMALL);

        assertThat(settings(VersionDiff.of(versions, "a", "b", Map.of("seed", "7"))))
                .containsExactly("seed: 2 -> 3 {seed=7}");
        assertThat(settings(VersionDiff.of(versions, "b", "c", Map.of()))).containsExactly("seed: 3 -> 2 {}");
        var both = VersionDiff.of(versions, "a", "c", Map.of("seed", "7"));
        assertThat(settings(both)).isEmpty();
        assertThat(both.rows()).hasSize(5);
        assertThat(both.numMarked()).isZero();
        assertThat(both.notKnown()).containsExactly("Much.");
    }

    private static List<String> settings(VersionDiff diff) {
        return diff.rows().stream()
                .filter(row -> row.change().kind().isSetting())
                .map(row -> row.change().name() + ": " + row.before() + " -> "
                        + row.change().value() + " " + row.given())
                .toList();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            kind = vllm, version = 0.31        | 0.31, must be one of 0.27, recorded, 0.28, 0.29, 0.30, main
            kind = sglang, version = "0.5.18"  | "0.5.18", must be one of recorded
            kind = roseinfer, version = "0.30" | "0.30", which needs engine.kind = vllm or sglang
            """)
    void versionThatIsNotKnown_isNamed(String engine, String message) {
        assertThatThrownBy(() -> EngineVersions.profile(Section.of(engine).at("engine")))
                .isInstanceOf(ScenarioException.class)
                .hasMessageContaining("engine.version is " + message);
    }

    @ParameterizedTest
    @ValueSource(strings = {"0.30", "0.3", "\"0.30\""})
    void versionThatIsANumber_mayLackItsLastZero(String version) {
        var engine = Section.of("kind = vllm, version = " + version);

        assertThat(EngineVersions.profile(engine)).isEqualTo(Optional.of(VLLM.profile("0.30")));
    }

    @Test
    void laterVersion_isTheSecondOfADiff() {
        assertThatThrownBy(() -> VLLM.between("0.30", "0.27"))
                .hasMessage("vllm 0.27: must be later than 0.30; the order is 0.27, recorded, 0.28, 0.29, 0.30, main");
        assertThatThrownBy(() -> VLLM.between("0.27", "0.31"))
                .hasMessage("vllm 0.31: must be one of 0.27, recorded, 0.28, 0.29, 0.30, main");
    }
}
