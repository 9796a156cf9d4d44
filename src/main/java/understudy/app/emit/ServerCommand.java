package understudy.app.emit;

import io.soabase.recordbuilder.core.RecordBuilder;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import understudy.app.console.ShellWord;
import understudy.routing.Role;

/**
 * Command that starts the servers of one group of replicas.
 *
 * @param name of the group, or of the engine where there are no groups
 * @param numProcesses servers, each started by this command, at least 1
 * @param program whose server it is
 * @param model that is served
 * @param flags behind the model, without the port
 * @param environment variables that the engine reads
 * @param emulated variables that only the emulation reads: its hardware, and settings that the engine has no flags for
 * @param numGpus of one process
 * @param gpu a name of {@code understudy gpus}, or a file
 * @param role part in the cluster
 * @param notes what a real server does otherwise, or needs besides, a line each
 */
@RecordBuilder
public record ServerCommand(
        String name,
        int numProcesses,
        ServerProgram program,
        String model,
        List<String> flags,
        Map<String, String> environment,
        Map<String, String> emulated,
        int numGpus,
        String gpu,
        Role role,
        List<String> notes) {

    /** Returns the model and the flags, with a port. */
    List<String> arguments(int port) {
        return Stream.of(program.naming(model).stream(), flags.stream(), Stream.of("--port=" + port))
                .flatMap(words -> words)
                .toList();
    }

    /** Returns all variables of the emulation's process. */
    Map<String, String> allEnvironment() {
        var all = new LinkedHashMap<>(environment);
        all.putAll(emulated);
        return all;
    }

    /** Returns the command of the real server for a shell. */
    String shell() {
        return shell(environment, program.words());
    }

    /** Returns the command of the emulated one. */
    String emulatedShell() {
        return shell(allEnvironment(), List.of("understudy", program.kind(), "serve"));
    }

    private String shell(Map<String, String> variables, List<String> words) {
        var assigned =
                variables.entrySet().stream().map(each -> each.getKey() + "=" + ShellWord.quoted(each.getValue()));
        var typed = Stream.concat(words.stream(), arguments(program.port()).stream())
                .map(ShellWord::quoted);
        return Stream.concat(assigned, typed).collect(Collectors.joining(" "));
    }
}
