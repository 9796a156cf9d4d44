package understudy.fidelity;

import java.util.Optional;
import understudy.report.RunReport;
import understudy.report.latency.LatencyStats;
import understudy.workload.kind.WorkloadSettings;

/** Compares a run with the times of a real server, if its trace has them. */
public final class MeasuredRun {
    private MeasuredRun() {}

    /**
     * Returns the comparison, or nothing if the run was interrupted, or its workload is not a CSV trace with measured
     * times at its original pace.
     */
    public static Optional<Fidelity> compare(WorkloadSettings workload, RunReport report) {
        if (report.isPartial()) {
            return Optional.empty();
        }
        return workload.csvAtItsPace()
                .flatMap(trace -> MeasuredRequests.read(trace, workload.limit()))
                .map(measured -> compare(measured, report));
    }

    private static Fidelity compare(MeasuredRequests measured, RunReport report) {
        var fidelity = new Fidelity();
        fidelity.add("TTFT", LatencyStats.of(measured.ttftNanos().toDoubleArray()), report.ttft());
        fidelity.add("TPOT", LatencyStats.of(measured.tpotNanos().toDoubleArray()), report.tpot());
        fidelity.add("E2EL", LatencyStats.of(measured.e2elNanos().toDoubleArray()), report.e2el());
        fidelity.add("Duration (s)", measured.makespanSeconds(), report.durationSeconds());
        return fidelity;
    }
}
