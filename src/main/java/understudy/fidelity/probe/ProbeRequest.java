package understudy.fidelity.probe;

import understudy.engine.OutputPlan;
import understudy.engine.Request;
import understudy.prompt.Prompt;
import understudy.prompt.SyntheticTokens;

/**
 * Request of a probe.
 *
 * @param atNanos when it is sent, from the start of its probe
 * @param prompt words of the prompt
 * @param numWarmWords words at its beginning that an earlier request had, too; 0 for a prompt like no other
 * @param maxTokens tokens of the answer
 */
public record ProbeRequest(long atNanos, Prompt prompt, int numWarmWords, int maxTokens) {

    Request toRequest(long id) {
        return Request.of(id, atNanos, prompt, maxTokens, new OutputPlan(new SyntheticTokens(id), OutputPlan.ENDLESS));
    }
}
