package understudy.app;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import understudy.cluster.ClusterEvent;
import understudy.host.watch.HistoryRecorder;
import understudy.host.watch.RoutingExplanation;
import understudy.host.watch.TraceRecorder;
import understudy.report.run.RunHistory;
import understudy.scenario.ReplicaGroup;
import understudy.scenario.Scenario;

/** Watchers of a run that its outputs need; none for those that were not asked for. */
final class RunWatchers implements Closeable {
    private final List<Consumer<ClusterEvent>> readers = new ArrayList<>();
    private final @Nullable RoutingExplanation explanation;
    private final @Nullable HistoryRecorder history;
    private final @Nullable NewFile traceFile;
    private final @Nullable TraceRecorder trace;

    /**
     * Opens the file of the trace, if there is to be one.
     *
     * @param explainedDecisions of the router; 0 is none
     */
    RunWatchers(ReportFiles files, int explainedDecisions, Scenario scenario) throws IOException {
        explanation = explainedDecisions == 0 ? null : new RoutingExplanation(explainedDecisions);
        history = files.html() == null ? null : new HistoryRecorder();
        traceFile = files.trace() == null ? null : new NewFile(files.trace());
        trace = traceFile == null
                ? null
                : new TraceRecorder(traceFile.writer(), replica -> groupName(scenario.groups(), replica));
        if (explanation != null) {
            readers.add(explanation::on);
        }
        if (history != null) {
            readers.add(history::on);
        }
        if (trace != null) {
            readers.add(trace::on);
        }
    }

    /** Returns the name of a replica's group; empty for one that has joined later. */
    private static String groupName(List<ReplicaGroup> groups, int replicaIndex) {
        int end = 0;
        for (var group : groups) {
            end += group.numReplicas();
            if (replicaIndex < end) {
                return group.name();
            }
        }
        return "";
    }

    /** Returns the consumer of all events; empty if no watcher reads them. */
    Optional<Consumer<ClusterEvent>> reader() {
        return readers.stream().reduce(Consumer::andThen);
    }

    Optional<RoutingExplanation> explanation() {
        return Optional.ofNullable(explanation);
    }

    Optional<RunHistory> history() {
        return Optional.ofNullable(history).map(HistoryRecorder::history);
    }

    /** Ends the trace, and puts it into its place. */
    void endTrace() throws IOException {
        if (trace != null && traceFile != null) {
            trace.close();
            traceFile.keep();
        }
    }

    @Override
    public void close() throws IOException {
        if (traceFile != null) {
            traceFile.close();
        }
    }
}
