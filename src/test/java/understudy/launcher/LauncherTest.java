package understudy.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How the launcher finds and calls a JVM. */
@DisabledOnOs(OS.WINDOWS)
final class LauncherTest {
    private static final String[] RUN = {"run", "a scenario.conf"};

    @TempDir
    private Path directory;

    private LauncherFixture fixture;

    @BeforeEach
    void setUp() throws IOException {
        fixture = new LauncherFixture(directory);
        fixture.environment.put("UNDERSTUDY_ARCHIVE", "off");
    }

    @Test
    void run_hasItsCollectorAndLateC2_andPassesArgumentsAndExitCode() throws Exception {
        var call = fixture.call(RUN);

        assertThat(call.out())
                .startsWith("-XX:+UseSerialGC")
                .contains("-XX:Tier4InvocationThreshold=50000")
                .endsWith(
                        "-cp",
                        fixture.launcher.toRealPath().toString(),
                        "understudy.app.Understudy",
                        "run",
                        "a scenario.conf")
                .noneMatch(arg -> arg.contains("unsafe") || arg.contains("Archive"));
        assertThat(call.err()).isEmpty();
        assertThat(call.exitCode()).isEqualTo(7);
    }

    /** A class path would end at the colon. */
    @Test
    void jarWhosePathHasAColon_isStartedAsOne() throws Exception {
        var folder = Files.createDirectory(directory.resolve("a:folder"));
        var launcher = LauncherFixture.executable(folder.resolve("understudy"), LauncherFixture.script());

        assertThat(fixture.call(directory, launcher.toString(), "run").out())
                .endsWith("-jar", launcher.toRealPath().toString(), "run");
    }

    @Test
    void runAlone_hasEarlyC1AndProfilesOfTheInterpreterAndASmallYoungGeneration() throws Exception {
        assertThat(fixture.call(RUN).out())
                .containsSubsequence(
                        "-XX:Tier3InvocationThreshold=50",
                        "-XX:Tier3BackEdgeThreshold=15000",
                        "-XX:FreqInlineSize=110",
                        "-XX:-C1UpdateMethodData",
                        "-XX:Tier0ProfilingStartPercentage=1",
                        "-Xmn32m",
                        "-cp");
        assertThat(fixture.call("sweep").out())
                .contains("-XX:Tier4InvocationThreshold=50000", "-XX:FreqInlineSize=110")
                .doesNotContain("-XX:-C1UpdateMethodData", "-XX:Tier0ProfilingStartPercentage=1", "-Xmn32m")
                .noneMatch(arg -> arg.contains("Tier3"));
    }

    @Test
    void profilesOfTheInterpreter_areForTheJvmsBefore25() throws Exception {
        fixture.environment.put("JAVA_HOME", fixture.jvm("24.0.2").toString());
        assertThat(fixture.call(RUN).out()).contains("-XX:-C1UpdateMethodData");

        fixture.environment.put("JAVA_HOME", fixture.jvm("25").toString());
        assertThat(fixture.call(RUN).out())
                .contains("-XX:FreqInlineSize=110")
                .doesNotContain("-XX:-C1UpdateMethodData", "-XX:Tier0ProfilingStartPercentage=1");
    }

    @Test
    void servers_haveTheCompilersOptionsOfTheJvm() throws Exception {
        assertThat(fixture.call("serve").out()).noneMatch(arg -> arg.contains("Tier") || arg.contains("Inline"));
    }

    /** What is compiled takes no processor from the gateway for long. */
    @Test
    void chaos_hasC1Only() throws Exception {
        assertThat(fixture.call("chaos").out()).startsWith("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp");
    }

    @Test
    void sizesOfTheUsersHeap_standAlone() throws Exception {
        fixture.environment.put("UNDERSTUDY_JAVA_OPTS", "-Xmx1g");

        assertThat(fixture.call(RUN).out()).contains("-XX:-C1UpdateMethodData").doesNotContain("-Xmn32m");
    }

    @Test
    void hugePages_areForCommandsThatEnd_whereTheSystemHasThem() throws Exception {
        var enabled = Path.of("/sys/kernel/mm/transparent_hugepage/enabled");
        var has = Files.isReadable(enabled) && Files.readString(enabled).matches("(?s).*\\[(always|madvise)].*");

        assertThat(fixture.call("sweep").out().contains("-XX:+UseTransparentHugePages"))
                .isEqualTo(has);
    }

    @Test
    void serve_hasAnotherCollector() throws Exception {
        assertThat(fixture.call("serve").out()).startsWith("-XX:+UseParallelGC", "-cp");
    }

    @Test
    void laterJvm_isToldThatUnsafeIsMeant() throws Exception {
        fixture.environment.put("JAVA_HOME", fixture.jvm("25").toString());

        assertThat(fixture.call(RUN).out())
                .contains("--sun-misc-unsafe-memory-access=allow", "--enable-native-access=ALL-UNNAMED");
    }

    @Test
    void optionsOfTheUser_comeLast_andTheirCollectorAlone() throws Exception {
        fixture.environment.put("UNDERSTUDY_JAVA_OPTS", "-Xmx1g -XX:+UseG1GC");

        var args = fixture.call(RUN).out();
        assertThat(args).containsSubsequence("-XX:Tier4BackEdgeThreshold=400000", "-Xmx1g", "-XX:+UseG1GC", "-cp");
        assertThat(args).doesNotContain("-XX:+UseSerialGC");
    }

    @Test
    void collectorForEveryJvm_isAloneToo() throws Exception {
        fixture.environment.put("JAVA_TOOL_OPTIONS", "-XX:+UseZGC");

        assertThat(fixture.call("serve").out()).doesNotContain("-XX:+UseParallelGC");
    }

    @Test
    void noJava_oldJavaAndWrongHome_areErrors() throws Exception {
        fixture.environment.put("JAVA_HOME", fixture.jvm("11.0.2").toString());
        assertError("is 11.0.2; Java 17 or later is needed");
        fixture.environment.put("JAVA_HOME", fixture.jvm("1.8.0_292").toString());
        assertError("is 1.8.0_292; Java 17 or later is needed");
        fixture.environment.put("JAVA_HOME", "/nowhere");
        assertError("JAVA_HOME is /nowhere, which has no bin/java");
        fixture.environment.remove("JAVA_HOME");
        fixture.environment.put("PATH", "/nowhere");
        assertError("no java found");
    }

    private void assertError(String text) throws Exception {
        var call = fixture.call(RUN);
        assertThat(call.exitCode()).isEqualTo(2);
        assertThat(call.out()).isEmpty();
        assertThat(call.err())
                .singleElement()
                .asString()
                .startsWith("understudy: ")
                .contains(text);
    }

    @Test
    void javaInThePath_isFoundBehindItsLink() throws Exception {
        var home = Path.of(fixture.environment.remove("JAVA_HOME"));
        var bin = Files.createDirectory(directory.resolve("bin"));
        Files.createSymbolicLink(bin.resolve("java"), bin.relativize(home.resolve("bin/java")));
        fixture.environment.merge("PATH", bin + ":", (path, first) -> first + path);

        assertThat(fixture.call(RUN).exitCode()).isEqualTo(7);
    }

    @Test
    void javaWithoutReleaseFile_isAskedForItsVersion() throws Exception {
        var home = Path.of(fixture.environment.get("JAVA_HOME"));
        Files.delete(home.resolve("release"));
        LauncherFixture.executable(home.resolve("bin/java"), """
                #!/bin/sh
                [ "$1" != -version ] || echo 'openjdk version "21.0.1" 2023-10-17' >&2
                """);
        assertThat(fixture.call(RUN).exitCode()).isZero();

        LauncherFixture.executable(home.resolve("bin/java"), "#!/bin/sh\necho nonsense\n");
        assertError("is of no known version");
    }

    @Test
    void linkAndAnyFolder_leadToTheSameJar() throws Exception {
        var link = Files.createSymbolicLink(directory.resolve("link"), directory.relativize(fixture.launcher));
        String jar = fixture.launcher.toRealPath().toString();

        assertThat(fixture.call(Path.of("/"), link.toString(), RUN).out()).contains(jar);
        assertThat(fixture.call(fixture.launcher.getParent(), "./understudy", RUN)
                        .out())
                .contains(jar);
        assertThat(fixture.call(fixture.launcher.getParent(), "sh", "understudy")
                        .out())
                .contains(jar);
    }

    @ParameterizedTest
    @ValueSource(strings = {"vllm", "python", "python3"})
    void linkOfVllm_takesItsCommandLine(String name) throws Exception {
        var link = Files.createSymbolicLink(directory.resolve(name), fixture.launcher);

        assertThat(fixture.call(Path.of("/"), link.toString(), "serve", "a model")
                        .out())
                .startsWith("-XX:+UseParallelGC", "-cp")
                .endsWith("vllm", "serve", "a model");
    }

    @Test
    void unknownMode_isAnError() throws Exception {
        fixture.environment.put("UNDERSTUDY_ARCHIVE", "soon");

        assertError("UNDERSTUDY_ARCHIVE is soon; it may be auto, now or off");
    }
}
