package understudy.api.openai;

import java.util.List;
import understudy.api.call.Generation;
import understudy.prompt.SessionTurn;
import understudy.prompt.TokenIds;

/**
 * A call that has passed all checks but that of its length.
 *
 * @param prompts at least one
 * @param isNamedCall whether the client named the function that is called
 */
public record ParsedCall(
        SpecBuilder specs, CallInfo info, List<EncodedPrompt> prompts, SpecBuilder.Shape shape, boolean isNamedCall) {

    /** Returns the call under a name of its own, with the name of the model that its answers carry. */
    public ParsedCall named(String id, String model) {
        var named = new CallInfo(id, info.created(), model, info.params(), info.tokenizer());
        return new ParsedCall(specs, named, prompts, shape, isNamedCall);
    }

    /** Returns the tokens of the first prompt. */
    public TokenIds firstPrompt() {
        return prompts.get(0).tokens();
    }

    /** Returns the call with other tokens as its only prompt. */
    public ParsedCall withPrompt(TokenIds tokens) {
        var first = prompts.get(0);
        return new ParsedCall(
                specs,
                info,
                List.of(new EncodedPrompt(tokens, first.question(), first.continuesText())),
                shape,
                isNamedCall);
    }

    /** Returns the tokens of the prompts together. */
    public int numPromptTokens() {
        return prompts.stream().mapToInt(prompt -> prompt.tokens().length()).sum();
    }

    /** Returns the requests to the engine; refuses prompts without room for an answer. */
    public List<Generation.Spec> requests(SessionTurn turn) {
        return specs.build(info.id(), prompts, info.params(), shape, turn);
    }
}
