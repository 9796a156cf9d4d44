package understudy.conform;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import understudy.kvcache.connector.ConnectedRequest;
import understudy.kvcache.connector.ExternalMatch;
import understudy.kvcache.connector.KvConnector;
import understudy.kvcache.connector.KvTransferParams;
import understudy.kvcache.connector.TierChange;
import understudy.kvcache.connector.TransferJob;

/** Connector that writes down what it is asked, and answers as another one does. */
final class ConnectorLog implements KvConnector {
    private final RecordedRun run;
    private final KvConnector connector;
    private final List<Object> asked = new ArrayList<>();
    private final List<Object> allocated = new ArrayList<>();
    private final List<Object> ended = new ArrayList<>();
    private boolean endsWithError;

    ConnectorLog(RecordedRun run, KvConnector connector) {
        this.run = run;
        this.connector = connector;
    }

    @Override
    public ExternalMatch match(ConnectedRequest request, int numLocalTokens) {
        var answer = connector.match(request, numLocalTokens);
        Integer numTokens = answer.isLater() ? null : answer.numTokens();
        asked.add(listOf(name(request), numLocalTokens, numTokens, answer.isAsync()));
        return answer;
    }

    private static List<@Nullable Object> listOf(@Nullable Object... values) {
        return new ArrayList<>(Arrays.asList(values));
    }

    @Override
    public void onAllocated(ConnectedRequest request, int numLocalTokens, int numExternalTokens) {
        allocated.add(List.of(name(request), numExternalTokens));
        connector.onAllocated(request, numLocalTokens, numExternalTokens);
    }

    @Override
    public void onPreempted(ConnectedRequest request) {
        connector.onPreempted(request);
    }

    @Override
    public boolean onEnded(ConnectedRequest request, boolean isComplete) {
        boolean isHeld = connector.onEnded(request, isComplete);
        String status = isComplete ? "FINISHED_LENGTH_CAPPED" : endsWithError ? "FINISHED_ERROR" : "FINISHED_ABORTED";
        ended.add(List.of(name(request), status, isHeld));
        return isHeld;
    }

    @Override
    public void onUnservedEnded(long requestId, @Nullable KvTransferParams params) {
        connector.onUnservedEnded(requestId, params);
        ended.add(List.of(run.requests().get((int) requestId).id(), "FINISHED_ABORTED", false));
    }

    @Override
    public List<TransferJob> onPlanned(List<? extends ConnectedRequest> scheduled, int[] numComputedTokens) {
        return connector.onPlanned(scheduled, numComputedTokens);
    }

    @Override
    public long[] jobsToFlush() {
        return connector.jobsToFlush();
    }

    @Override
    public List<TransferJob> onJobEnded(long job, boolean isFailed) {
        return connector.onJobEnded(job, isFailed);
    }

    @Override
    public List<TierChange> drainChanges() {
        return connector.drainChanges();
    }

    @Override
    public void audit() {
        connector.audit();
    }

    /** Sets whether requests that end from now on end with an error. */
    void setEndsWithError(boolean isError) {
        endsWithError = isError;
    }

    /** Returns the questions and allocations since the last call. */
    Map<String, Object> takePlanned() {
        Map<String, Object> fields = new TreeMap<>();
        fields.put("asked", taken(asked));
        fields.put("allocated", taken(allocated));
        return fields;
    }

    /** Returns the requests that have ended since the last call. */
    List<Object> takeEnded() {
        return taken(ended);
    }

    private static List<Object> taken(List<Object> list) {
        var taken = List.copyOf(list);
        list.clear();
        return taken;
    }

    private String name(ConnectedRequest request) {
        return run.requests().get((int) request.requestId()).id();
    }
}
