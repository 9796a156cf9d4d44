package understudy.engine;

import understudy.prompt.Prompt;

/**
 * One call of the API, as it travels from its sender to a replica.
 *
 * @param id unique in the emulation
 * @param name vLLM's {@code request_id}, which breaks ties of priority and arrival; compared as text
 * @param arrivalNanos when the sender sent it, in virtual time
 * @param prompt what is asked
 * @param sampling when the answer is over
 * @param priority smaller goes first, with the priority policy only
 * @param tenant who pays for it, or whose fair share it takes; empty is none
 * @param output what the model will answer
 */
public record Request(
        long id,
        String name,
        long arrivalNanos,
        Prompt prompt,
        SamplingParams sampling,
        int priority,
        String tenant,
        OutputPlan output) {

    /** Returns a request as benchmarks send it: without priority and tenant, named by its number. */
    public static Request of(long id, long arrivalNanos, Prompt prompt, int maxTokens, OutputPlan output) {
        return new Request(id, "", arrivalNanos, prompt, SamplingParams.ofMaxTokens(maxTokens), 0, "", output);
    }

    /** Returns the same request with another priority. */
    public Request withPriority(int newPriority) {
        return new Request(id, name, arrivalNanos, prompt, sampling, newPriority, tenant, output);
    }

    /** Returns the same request of a tenant. */
    public Request withTenant(String newTenant) {
        return new Request(id, name, arrivalNanos, prompt, sampling, priority, newTenant, output);
    }

    /** Returns the same request, sent at another time. */
    public Request arrivingAt(long otherArrivalNanos) {
        return new Request(id, name, otherArrivalNanos, prompt, sampling, priority, tenant, output);
    }

    /** Returns the same request with another prompt. */
    Request withPrompt(Prompt other) {
        return new Request(id, name, arrivalNanos, other, sampling, priority, tenant, output);
    }

    /** Returns the most output tokens that the sender accepts. */
    public int maxTokens() {
        return sampling.maxTokens();
    }
}
