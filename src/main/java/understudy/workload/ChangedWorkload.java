package understudy.workload;

import java.util.Optional;
import java.util.OptionalLong;

/** Delegates to another workload; a subclass changes single requests, never their number. */
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
