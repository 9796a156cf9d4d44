package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import understudy.Waiting;

/** The program as a process of its own, whose streams are files; closing ends it. */
final class ProcessFixture implements AutoCloseable {
    /** Exit code of a process that has died of Ctrl-C. */
    static final int DIES_OF_SIGINT = 130;

    /** Exit code of a process that has been asked to end. */
    static final int DIES_OF_SIGTERM = 143;

    private static final Path KILL = Path.of("/bin/kill");

    /** What Linux says of this process: one bit for each signal, from 1. */
    private static final Path STATUS = Path.of("/proc/self/status");

    private static final long SIGINT_BIT = 1 << (2 - 1);

    private final Process process;
    private final Path out;
    private final Path err;

    private ProcessFixture(Path directory, String name, ProcessBuilder builder) {
        out = directory.resolve(name + ".out");
        err = directory.resolve(name + ".err");
        try {
            if (builder.redirectOutput().equals(ProcessBuilder.Redirect.PIPE)) {
                builder.redirectOutput(out.toFile());
            }
            process = builder.redirectError(err.toFile()).start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Starts the program with its streams in files of a directory. */
    static ProcessFixture start(Path directory, String... args) {
        return start(directory, "process", command(args));
    }

    /** Starts one of several programs with their streams in files of a directory. */
    static ProcessFixture start(Path directory, String name, ProcessBuilder builder) {
        return new ProcessFixture(directory, name, builder);
    }

    /** Returns the command of the program, which finds its classes in any folder; arguments of the JVM come first. */
    static ProcessBuilder command(String... args) {
        var command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+IgnoreUnrecognizedVMOptions",
                "--sun-misc-unsafe-memory-access=allow",
                "--enable-native-access=ALL-UNNAMED",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1"));
        Stream.of(args).takeWhile(arg -> arg.startsWith("-X")).forEach(command::add);
        command.addAll(List.of("-cp", classPath(), Understudy.class.getName()));
        Stream.of(args).dropWhile(arg -> arg.startsWith("-X")).forEach(command::add);
        return new ProcessBuilder(command);
    }

    private static String classPath() {
        return Pattern.compile(File.pathSeparator, Pattern.LITERAL)
                .splitAsStream(System.getProperty("java.class.path"))
                .map(entry -> Path.of(entry).toAbsolutePath().toString())
                .collect(Collectors.joining(File.pathSeparator));
    }

    /** Skips the test where no signal can be sent, or where processes ignore Ctrl-C, as those behind nohup do. */
    static void requireSignals() throws IOException {
        assumeTrue(Files.isExecutable(KILL), "there is no " + KILL + " to send a signal with");
        assumeTrue(!isInterruptIgnored(), "this process ignores SIGINT, as those would that it starts");
    }

    private static boolean isInterruptIgnored() throws IOException {
        if (!Files.exists(STATUS)) {
            return false;
        }
        try (var lines = Files.lines(STATUS)) {
            return lines.filter(line -> line.startsWith("SigIgn:"))
                    .anyMatch(line -> (Long.parseUnsignedLong(
                                            line.substring("SigIgn:".length()).strip(), 16)
                                    & SIGINT_BIT)
                            != 0);
        }
    }

    Process process() {
        return process;
    }

    /** Sends Ctrl-C. */
    void interrupt() throws IOException, InterruptedException {
        new ProcessBuilder(KILL.toString(), "-INT", String.valueOf(process.pid()))
                .start()
                .waitFor();
    }

    /** Returns when stderr has a text so many times; fails if the process ends before. */
    void awaitErr(String text, int times) {
        Waiting.until(() -> {
            boolean isAlive = process.isAlive();
            int found = err().split(Pattern.quote(text), -1).length - 1;
            assertThat(found >= times || isAlive).as(err()).isTrue();
            return found >= times;
        });
    }

    /** Waits for the end, and returns the exit code. */
    int exitCode() throws InterruptedException {
        assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
        return process.exitValue();
    }

    String out() {
        return text(out);
    }

    String err() {
        return text(err);
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
