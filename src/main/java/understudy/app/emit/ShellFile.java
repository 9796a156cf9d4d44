package understudy.app.emit;

import java.util.List;

/** Commands of a shell that start the servers, real and emulated. */
final class ShellFile {
    private ShellFile() {}

    static String of(List<ServerCommand> servers, DeploymentFormat.Release release) {
        var text = new StringBuilder("# Servers of ").append(release.scenario()).append(".\n");
        for (var server : servers) {
            text.append('\n').append(heading(server));
            server.notes().forEach(note -> text.append("# ").append(note).append('\n'));
            text.append(server.shell()).append('\n');
        }
        text.append("\n# ").append(release.routing()).append('\n');
        text.append("\n# The same servers emulated, without a GPU.\n");
        servers.forEach(server -> text.append(server.emulatedShell()).append('\n'));
        text.append("\n# All of it in one process, with the router.\nunderstudy serve ")
                .append(release.scenario())
                .append('\n');
        return text.toString();
    }

    private static String heading(ServerCommand server) {
        return "# " + server.name() + ": " + server.numProcesses()
                + (server.numProcesses() == 1 ? " server" : " servers") + " with " + server.numGpus() + " x "
                + server.gpu() + "\n";
    }
}
