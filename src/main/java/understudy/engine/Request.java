package understudy.engine;

import io.soabase.recordbuilder.core.RecordBuilder;
import org.jspecify.annotations.Nullable;
import understudy.kvcache.connector.KvTransferParams;
import understudy.prompt.Prompt;

/**
 * One call of the API, as it travels from its sender to a replica.
 *
 * @param id unique in the emulation
 * @param name vLLM's {@code request_id}, which breaks ties of priority and arrival; compared as text
 * @param arrivalNanos when the sender sent it, in virtual time
 * @param prompt tokens of the prompt
 * @param sampling when the answer is over
 * @param priority smaller goes first, with the priority policy only
 * @param hasPriority whether it was sent with one; else that is 0, and an engine may go by another default
 * @param tenant customer who pays for it, or whose fair share it takes; empty is none
 * @param output tokens that the model will answer
 * @param earlier part of the answer that a crashed replica had delivered, which is the end of the prompt now; null if
 *     none
 * @param kvTransfer KV transfer parameters that a router sends along, or null if none
 */
@RecordBuilder
@RecordBuilder.Options(enableWither = true)
public record Request(
        long id,
        String name,
        long arrivalNanos,
        Prompt prompt,
        SamplingParams sampling,
        int priority,
        boolean hasPriority,
        String tenant,
        OutputPlan output,
        @Nullable AnswerProgress earlier,
        @Nullable KvTransferParams kvTransfer)
        implements RequestBuilder.With {

    /** Returns a request as benchmarks send it: without priority and tenant, named by its number. */
    public static Request of(long id, long arrivalNanos, Prompt prompt, int maxTokens, OutputPlan output) {
        return RequestBuilder.builder()
                .id(id)
                .name("")
                .arrivalNanos(arrivalNanos)
                .prompt(prompt)
                .sampling(SamplingParams.ofMaxTokens(maxTokens))
                .tenant("")
                .output(output)
                .build();
    }

    /** Returns whether a replica is only to compute the prompt, for another one of the same cluster that answers. */
    public boolean isPrefillLeg() {
        return kvTransfer != null && kvTransfer.doRemoteDecode() && !kvTransfer.isOutside();
    }

    /** Returns the same request with another limit on its answer, and words on its KV. */
    public Request withTransfer(SamplingParams newSampling, @Nullable KvTransferParams transfer) {
        return with().sampling(newSampling).kvTransfer(transfer).build();
    }

    /** Returns the same request with another limit on its answer. */
    public Request withMaxTokens(int maxTokens) {
        return maxTokens == maxTokens() ? this : withTransfer(sampling.withMaxTokens(maxTokens), kvTransfer);
    }

    /** Returns the same request, of whose KV nothing is known any more; what is kept for another process still is. */
    public Request withoutRemoteKv() {
        boolean isKeptOutside = kvTransfer != null && kvTransfer.doRemoteDecode() && kvTransfer.isOutside();
        return isKeptOutside ? this : withTransfer(sampling, null);
    }

    /**
     * Returns what is left of this request behind a token of its answer, as NVIDIA Dynamo migrates one: the prompt ends
     * with the answer so far, and the limits on the answer are lower by as much.
     *
     * @param progress with one token or more that this request does not have in its prompt
     */
    public Request resumed(AnswerProgress progress) {
        int count = progress.numTokens() - numEarlierTokens();
        return with().prompt(prompt.followedBy(output.tokens(), count))
                .sampling(sampling.after(count))
                .output(output.after(count))
                .earlier(progress)
                .kvTransfer(null)
                .build();
    }

    /** Returns how far this request had come before it was sent to its replica. */
    public AnswerProgress progress() {
        return earlier == null ? AnswerProgress.none(prompt.length()) : earlier;
    }

    int numEarlierTokens() {
        return earlier == null ? 0 : earlier.numTokens();
    }

    /** Returns the most output tokens that the sender accepts. */
    public int maxTokens() {
        return sampling.maxTokens();
    }
}
