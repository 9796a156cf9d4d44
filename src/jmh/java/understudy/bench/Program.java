package understudy.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarFile;

/**
 * A version of the program under test.
 *
 * @param file a runnable jar, or a launcher
 * @param isLauncher whether {@code file} is started by itself
 * @param javaOptions of the JVM, beside its heap
 */
record Program(Path file, boolean isLauncher, List<String> javaOptions) {

    String name() {
        return file.getFileName().toString();
    }

    /** Returns what starts a process with these arguments; a launcher's JVM reads the environment. */
    ProcessBuilder process(int heapMegabytes, List<String> arguments) {
        var options = jvmOptions(heapMegabytes);
        var command = new ArrayList<String>();
        if (isLauncher) {
            command.add(file.toAbsolutePath().toString());
        } else {
            command.add(java());
            command.addAll(options);
            command.addAll(List.of("-jar", file.toString()));
        }
        command.addAll(arguments);
        var process = new ProcessBuilder(command);
        if (isLauncher) {
            process.environment().put("JDK_JAVA_OPTIONS", String.join(" ", options));
        }
        return process;
    }

    /** Returns what starts {@link WarmRuns} over this jar; {@code helper} is the folder with its class. */
    ProcessBuilder warmProcess(int heapMegabytes, Path helper, int repeat, List<String> arguments) throws IOException {
        var command = new ArrayList<>(List.of(java()));
        command.addAll(jvmOptions(heapMegabytes));
        command.addAll(List.of("-cp", file + System.getProperty("path.separator") + helper));
        command.addAll(List.of(WarmRuns.class.getName(), mainClass(), String.valueOf(repeat)));
        command.addAll(arguments);
        return new ProcessBuilder(command);
    }

    private List<String> jvmOptions(int heapMegabytes) {
        var options = new ArrayList<>(List.of("-Xmx" + heapMegabytes + "m"));
        options.addAll(javaOptions);
        return options;
    }

    private String mainClass() throws IOException {
        try (var jar = new JarFile(file.toFile())) {
            return jar.getManifest().getMainAttributes().getValue("Main-Class");
        }
    }

    private static String java() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }
}
