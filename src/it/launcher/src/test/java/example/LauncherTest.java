package example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The launcher that the build has made, its jar, and the JVM of this test. */
@DisabledOnOs(OS.WINDOWS)
final class LauncherTest {
    private static final String[] RUN = {"run", "conf/demo.conf", "--set", "workload.requests=5", "--json", "-"};

    /** A class too old for an archive is in none, and one that the rehearsal for it does not need. */
    private static final int MOST_CLASSES_FROM_JAR = 20;

    @TempDir
    private Path directory;

    /** What a call printed on its two outputs. */
    private record Call(String out, String err) {}

    @Test
    void archive_isUsed_changesNoReport_andIsReplacedIfBroken() throws Exception {
        var without = call("off", RUN);
        assertTrue(numClassesFromJar("off") > 1000);

        assertEquals(withoutHost(without), withoutHost(call("now", RUN)));
        assertTrue(numClassesFromJar("auto") < MOST_CLASSES_FROM_JAR);

        breakInTheMiddle(archive());
        assertEquals(withoutHost(without), withoutHost(call("now", RUN)));
        assertTrue(numClassesFromJar("auto") < MOST_CLASSES_FROM_JAR);
    }

    private static void breakInTheMiddle(Path archive) throws IOException {
        byte[] bytes = Files.readAllBytes(archive);
        Arrays.fill(bytes, bytes.length / 2, bytes.length / 2 + 10_000, (byte) 1);
        // Java 17 leaves a file that its owner can only read.
        Files.delete(archive);
        Files.write(archive, bytes);
    }

    @Test
    void jarInIt_runsWithoutIt() throws Exception {
        var jar = start(
                "off",
                Path.of(System.getProperty("java.home"), "bin/java").toString(),
                "-jar",
                System.getProperty("launcher"),
                "--version");
        assertEquals(call("off", "--version"), jar);
    }

    /** Each run lists the GPUs and models in the jar, which all threads share. */
    @Test
    void runsAtTheSameTime_doNotDisturbEachOther() throws Exception {
        String[] sweep = {"sweep", "conf/pd.conf", "--vary", "seed=1..40", "--set", "workload.requests=2", "--jobs", "4"
        };

        assertEquals("", call("off", sweep).err);
    }

    private Path archive() throws IOException {
        try (var files = Files.list(directory.resolve("understudy"))) {
            return files.filter(file -> file.toString().matches(".*\\.(jsa|aot)"))
                    .findFirst()
                    .orElseThrow();
        }
    }

    /** Leaves out the last object of a report, which has the machine's figures. */
    private static Call withoutHost(Call call) {
        int host = call.out.indexOf("\"host\"");
        assertTrue(host > 0, call.toString());
        return new Call(call.out.substring(0, host), call.err);
    }

    /** Returns how many classes a run parses, lambdas aside. */
    private long numClassesFromJar(String mode) throws Exception {
        var log = directory.resolve("classes.txt");
        var command = new ArrayList<>(
                List.of("env", "UNDERSTUDY_JAVA_OPTS=-Xlog:class+load:file=" + log, System.getProperty("launcher")));
        command.addAll(List.of(RUN));
        assertEquals("", start(mode, command.toArray(String[]::new)).err);
        try (var lines = Files.lines(log)) {
            return lines.filter(line -> line.contains("source: file:")).count();
        }
    }

    private Call call(String mode, String... args) throws Exception {
        var command = new ArrayList<>(List.of(args));
        command.add(0, System.getProperty("launcher"));
        return start(mode, command.toArray(String[]::new));
    }

    private Call start(String mode, String... command) throws Exception {
        var out = directory.resolve("out").toFile();
        var err = directory.resolve("err").toFile();
        var builder = new ProcessBuilder(command).redirectOutput(out).redirectError(err);
        builder.environment()
                .putAll(Map.of(
                        "UNDERSTUDY_ARCHIVE", mode,
                        "XDG_CACHE_HOME", directory.toString(),
                        "JAVA_HOME", System.getProperty("java.home")));
        assertEquals(0, builder.start().waitFor());
        return new Call(Files.readString(out.toPath()), Files.readString(err.toPath()));
    }
}
