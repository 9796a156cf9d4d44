package understudy.conform;

import io.soabase.recordbuilder.core.RecordBuilder;
import it.unimi.dsi.fastutil.ints.IntList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Decisions of a scheduler and its KV cache in one step, by request name, as a recording of vLLM holds them.
 *
 * @param scheduled tokens by request, in scheduling order
 * @param preempted requests that lost their blocks, sorted
 * @param admitted requests that were admitted for the first time, in order
 * @param resumed requests that were admitted again, in order
 * @param running requests that run after the step was planned, in order
 * @param blockTables block ids of those that run
 * @param numFreeBlocks blocks without references
 * @param numStored blocks that became findable
 * @param numRemoved cached blocks that were given out again
 * @param finished requests that ended with the result that was applied in this step, sorted
 * @param planned further fields of a replica with a connector, under the names of the recording
 * @param updated further fields from the end of the step; none if they are not known
 */
@RecordBuilder
public record StepDecision(
        Map<String, Integer> scheduled,
        List<String> preempted,
        List<String> admitted,
        List<String> resumed,
        List<String> running,
        Map<String, IntList> blockTables,
        int numFreeBlocks,
        int numStored,
        int numRemoved,
        List<String> finished,
        Map<String, Object> planned,
        Map<String, Object> updated) {

    /** Returns the same without what is taken at the end of the step. */
    StepDecision withoutUpdate() {
        return new StepDecision(
                scheduled,
                preempted,
                admitted,
                resumed,
                running,
                blockTables,
                numFreeBlocks,
                numStored,
                numRemoved,
                finished,
                planned,
                Map.of());
    }

    /** Returns all fields under the names that recordings give them; lists and maps in an order that matters. */
    public Map<String, Object> fields() {
        var fields = new LinkedHashMap<String, Object>();
        fields.put("scheduled", List.copyOf(scheduled.entrySet()));
        fields.put("preempted", preempted);
        fields.put("new", admitted);
        fields.put("resumed", resumed);
        fields.put("running", running);
        fields.put("tables", blockTables);
        fields.put("free_blocks", numFreeBlocks);
        fields.put("stored", numStored);
        fields.put("removed", numRemoved);
        fields.put("finished", finished);
        fields.putAll(planned);
        fields.putAll(updated);
        return fields;
    }
}
