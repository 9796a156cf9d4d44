package understudy.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import understudy.TestData;
import understudy.latency.tables.KernelDatabase;

final class GpuTablesTest {

    @Test
    void everyGpuOfTheDatabase_hasAFileThatNamesItsTables() {
        var database = new KernelDatabase(TestData.require("aiconfigurator"));
        var named = SpecFiles.GPUS.all().stream()
                .map(file -> GpuFile.read(file).kernelTables())
                .filter(name -> !name.isEmpty())
                .toList();

        assertThat(named).containsExactlyInAnyOrderElementsOf(database.gpus());
    }
}
