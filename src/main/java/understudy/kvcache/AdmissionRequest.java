package understudy.kvcache;

/**
 * A scheduler's question: may this waiting request run in the step that is being planned, and with how many tokens?
 *
 * @param handle small number by which the replica names the request, unique among its unfinished ones
 * @param prompt what is asked
 * @param output what will be answered; only positions below {@code numTokens} are read
 * @param numTokens tokens known so far: the prompt, and for a preempted request its output
 * @param maxTokensNow the step's remaining token budget, at least 1
 * @param longPrefillTokenThreshold cap on the tokens of one request in one step, or 0 for none
 * @param enableChunkedPrefill whether a prompt may be cut to fit the budget
 * @param reserveFullSequence whether all known tokens must fit into free blocks, not only those of this step
 * @param isResumed whether the request was preempted before; its lookups are counted apart
 */
public record AdmissionRequest(
        int handle,
        Prompt prompt,
        TokenSource output,
        int numTokens,
        int maxTokensNow,
        int longPrefillTokenThreshold,
        boolean enableChunkedPrefill,
        boolean reserveFullSequence,
        boolean isResumed) {}
