package understudy.api.model;

import java.time.LocalDateTime;
import java.util.function.Supplier;

/** Turns a conversation into a prompt. Thread-safe. */
public interface ChatTemplate {

    /** Returns the template of a model, or what stands in for it: special tokens between messages. */
    static ChatTemplate of(ModelSettings model, Tokenizer tokenizer, Supplier<LocalDateTime> now) {
        var template = model.chatTemplate();
        var texts = template == null ? new MarkedTemplate(tokenizer) : new RenderedTemplate(template, tokenizer, now);
        return chat -> texts.render(chat).withMedia();
    }

    /** Returns what stands in for the template of a model that has none. */
    static ChatTemplate ofMarks(Tokenizer tokenizer) {
        return new MarkedTemplate(tokenizer);
    }

    /** Returns the prompt; fails with an answer to the client if the conversation does not suit the template. */
    PromptText render(ChatPrompt chat);
}
