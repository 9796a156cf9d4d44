package understudy.workload.servegen;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import understudy.workload.files.NamedFile;
import understudy.workload.files.NamedFiles;
import understudy.workload.files.TraceException;

/** Files of a service: {@code chunk-N-trace.csv} and {@code chunk-N-dataset.json} for each client. */
final class ServeGenFiles {
    private static final Pattern FILE = Pattern.compile("(?:.*/)?chunk-(\\d{1,9})-(trace\\.csv|dataset\\.json)");
    private static final int SERVICE_SHIFT = 20;

    private final String path;
    private final TreeMap<Integer, Files> clients = new TreeMap<>();

    /** Files found of one client. */
    private static final class Files {
        private @Nullable List<ClientWindow> windows;
        private @Nullable ClientLengths lengths;
    }

    private ServeGenFiles(String path) {
        this.path = path;
    }

    /**
     * Reads the clients of a service that have requests in the time to which the day is cut.
     *
     * @param index of the service among all
     * @throws TraceException if there are none, or a file cannot be used
     */
    static List<ServeGenClient> read(ServeGenOptions options, int index) {
        var service = options.services().get(index);
        var files = new ServeGenFiles(service.path().toString());
        files.readAll(service.path());
        var clients = files.clients(index, service.rateScale()).stream()
                .map(client -> client.within(options.startSeconds(), options.endSeconds()))
                .filter(client -> client.numRequests() > 0)
                .sorted(Comparator.comparingDouble(ServeGenClient::numRequests).reversed())
                .limit(options.maxClients() == 0 ? Long.MAX_VALUE : options.maxClients())
                .toList();
        if (clients.isEmpty()) {
            throw new TraceException(
                    files.path,
                    "no client has requests from second " + options.startSeconds() + " to " + options.endSeconds());
        }
        return clients;
    }

    private void readAll(Path path) {
        try (var files = NamedFiles.open(path, name -> FILE.matcher(name).matches())) {
            for (var file = files.next(); file != null; file = files.next()) {
                read(file);
            }
        }
    }

    private void read(NamedFile file) {
        var parts = FILE.matcher(file.name());
        if (!parts.matches()) {
            throw new IllegalStateException(file.name());
        }
        var files = clients.computeIfAbsent(Integer.valueOf(parts.group(1)), number -> new Files());
        if (parts.group(2).equals("trace.csv")) {
            requireNone(files.windows, file.path());
            files.windows = ClientWindow.read(file.path(), file.readAll());
        } else {
            requireNone(files.lengths, file.path());
            files.lengths = ClientLengths.read(file.path(), file.readAll());
        }
    }

    /** Two services in one directory would be taken for one. */
    private static void requireNone(@Nullable Object earlier, String file) {
        if (earlier != null) {
            throw new TraceException(
                    file, "a file of this name is in another folder, too; name each service in servegen.services");
        }
    }

    private List<ServeGenClient> clients(int service, double rateScale) {
        if (clients.isEmpty()) {
            throw new TraceException(path, "has no files chunk-N-trace.csv and chunk-N-dataset.json");
        }
        var found = new ArrayList<ServeGenClient>();
        clients.forEach((number, files) -> {
            if (files.windows == null || files.lengths == null) {
                String missing = "chunk-" + number + (files.windows == null ? "-trace.csv" : "-dataset.json");
                throw new TraceException(path, "has no file " + missing);
            }
            found.add(new ServeGenClient(
                    service + "/chunk-" + number,
                    ((long) service << SERVICE_SHIFT) + found.size(),
                    rateScale,
                    files.windows,
                    files.lengths));
        });
        return found;
    }
}
