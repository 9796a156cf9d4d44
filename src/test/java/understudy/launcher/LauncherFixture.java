package understudy.launcher;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import understudy.Waiting;

/** A launcher with a jar behind it, JVMs that only write down how they are called, and a cache folder. */
final class LauncherFixture {
    /** Prints its arguments; writes an archive if that is among them, which takes it a while. */
    private static final String FAKE_JAVA = """
            #!/bin/sh
            for arg in "$@"; do
              echo "$arg"
              case $arg in
                -XX:ArchiveClassesAtExit=* | -XX:AOTCacheOutput=*)
                  echo "$*" >>"${0%/bin/java}/rehearsals"
                  sleep 0.2
                  echo archive >"${arg#*=}"
                  exit
                  ;;
              esac
            done
            exit 7
            """;

    private final Path directory;
    final Map<String, String> environment = new TreeMap<>();
    final Path cache;
    final Path launcher;

    /** What a call printed, and its exit code. */
    record Call(int exitCode, List<String> out, List<String> err) {}

    LauncherFixture(Path directory) throws IOException {
        this.directory = Files.createDirectory(directory.resolve("a folder"));
        launcher = executable(this.directory.resolve("understudy"), script() + "a jar\n");
        // Older than any archive, also where a shell compares whole seconds.
        Files.setLastModifiedTime(launcher, FileTime.from(Instant.EPOCH));
        environment.put("PATH", System.getenv("PATH"));
        environment.put("XDG_CACHE_HOME", this.directory.resolve("cache").toString());
        environment.put("JAVA_HOME", jvm("17.0.15").toString());
        cache = this.directory.resolve("cache/understudy");
    }

    static String script() throws IOException {
        return Files.readString(Path.of("src/main/launcher/understudy.sh"));
    }

    /** Returns the home of a JVM of this version. */
    Path jvm(String version) throws IOException {
        var home = Files.createDirectories(directory.resolve("jvm " + version));
        Files.createDirectories(home.resolve("bin"));
        executable(home.resolve("bin/java"), FAKE_JAVA);
        Files.writeString(home.resolve("release"), "IMPLEMENTOR=\"X\"\nJAVA_VERSION=\"" + version + "\"\n");
        return home;
    }

    static Path executable(Path file, String text) throws IOException {
        Files.writeString(file, text, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING);
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    Call call(String... args) throws IOException, InterruptedException {
        return call(directory, launcher.toString(), args);
    }

    Call call(Path from, String program, String... args) throws IOException, InterruptedException {
        return end(start(from, program, args));
    }

    Process start(Path from, String program, String... args) throws IOException {
        var command = new ProcessBuilder(program).directory(from.toFile());
        command.command().addAll(List.of(args));
        command.environment().clear();
        command.environment().putAll(environment);
        return command.start();
    }

    static Call end(Process process) throws IOException, InterruptedException {
        try (var out = process.inputReader();
                var err = process.errorReader()) {
            var printed = out.lines().toList();
            return new Call(process.waitFor(), printed, err.lines().toList());
        }
    }

    List<Path> archives() {
        if (!Files.isDirectory(cache)) {
            return List.of();
        }
        try (var files = Files.list(cache)) {
            return files.filter(file -> file.toString().matches(".*\\.(jsa|aot)"))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Waits for what a background process makes. */
    Path awaitArchive() {
        Waiting.until(() -> !archives().isEmpty());
        return archives().get(0);
    }

    long numRehearsals() throws IOException {
        return rehearsals().size();
    }

    /** Returns the arguments of each rehearsal of the present JVM, joined by blanks. */
    List<String> rehearsals() throws IOException {
        var log = Path.of(environment.get("JAVA_HOME"), "rehearsals");
        return Files.exists(log) ? Files.readAllLines(log) : List.of();
    }
}
