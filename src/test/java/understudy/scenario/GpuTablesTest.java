package understudy.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import understudy.TestData;
import understudy.latency.tables.KernelDatabase;

final class GpuTablesTest {

    @Test
    void everyGpuOfTheDatabase_hasAFileThatNamesItsTables() throws IOException {
        var root = TestData.require("aiconfigurator");
        var named = SpecFiles.GPUS.all().stream()
                .map(file -> GpuFile.read(file).kernelTables())
                .filter(name -> !name.isEmpty())
                .toList();

        assertThat(named).containsExactlyInAnyOrderElementsOf(folders(root.resolve("data")));
        assertThat(new KernelDatabase(root).gpus()).containsExactlyInAnyOrderElementsOf(named);
    }

    private static List<String> folders(Path path) throws IOException {
        try (var files = Files.list(path)) {
            return files.filter(Files::isDirectory)
                    .map(folder -> folder.getFileName().toString())
                    .toList();
        }
    }
}
