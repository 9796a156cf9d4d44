package understudy.workload;

import java.util.Optional;
import java.util.OptionalLong;

/** Another workload, some of whose requests a subclass changes; how many there are is not its business. */
abstract class ChangedWorkload implements Workload {
    final Workload workload;

    ChangedWorkload(Workload workload) {
        this.workload = workload;
    }

    @Override
    public final OptionalLong total() {
        return workload.total();
    }

    @Override
    public final long numPlanned() {
        return workload.numPlanned();
    }

    @Override
    public final long numAbandoned() {
        return workload.numAbandoned();
    }

    @Override
    public final Optional<String> warning() {
        return workload.warning();
    }

    @Override
    public final void close() {
        workload.close();
    }
}
