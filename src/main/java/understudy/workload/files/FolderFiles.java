package understudy.workload.files;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** Files of a folder and of those below it, or one file. */
final class FolderFiles extends ListedFiles {
    private final Path folder;

    private FolderFiles(Path folder, List<String> names) {
        super(folder, names);
        this.folder = folder;
    }

    static FolderFiles ofFile(Path file) {
        return new FolderFiles(file, List.of(""));
    }

    static FolderFiles ofFolder(Path folder, Predicate<String> isWanted, Consumer<List<String>> order)
            throws IOException {
        try (var files = Files.walk(folder)) {
            var names = new ArrayList<>(files.filter(Files::isRegularFile)
                    .map(file -> folder.relativize(file).toString().replace('\\', '/'))
                    .filter(isWanted)
                    .sorted()
                    .toList());
            order.accept(names);
            return new FolderFiles(folder, names);
        }
    }

    @Override
    NamedFile open(String name) throws IOException {
        var file = folder.resolve(name);
        return new NamedFile(folder.toString(), name, Files.size(file), Files.newInputStream(file));
    }
}
