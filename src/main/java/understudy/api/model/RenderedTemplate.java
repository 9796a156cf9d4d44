package understudy.api.model;

import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import understudy.api.http.ApiException;
import understudy.jinja.JinjaTemplate;
import understudy.jinja.python.JinjaException;
import understudy.jinja.python.None;

/** The model's own template (transformers {@code apply_chat_template}, as vLLM's {@code safe_apply_chat_template} calls it). */
final class RenderedTemplate implements ChatTemplate {
    /** Marker that transformers puts behind the last message to find out where the prompt is to end. */
    private static final String TAG = "CONTINUE_FINAL_MESSAGE_TAG ";

    private final ModelTemplate model;
    private final Tokenizer tokenizer;
    private final Supplier<LocalDateTime> now;

    RenderedTemplate(ModelTemplate model, Tokenizer tokenizer, Supplier<LocalDateTime> now) {
        this.model = model;
        this.tokenizer = tokenizer;
        this.now = now;
    }

    @Override
    public PromptText render(ChatPrompt chat) {
        var template = model.template(chat.tools() != null);
        try {
            String text = text(chat, template);
            return chat.addsSpecialTokens() ? PromptText.between(tokenizer, text) : PromptText.of(text);
        } catch (JinjaException e) {
            throw ApiException.badRequest(String.valueOf(e.getMessage()), null);
        }
    }

    private String text(ChatPrompt chat, JinjaTemplate template) {
        var values = new TemplateValues(template.readsContentParts());
        var variables = new HashMap<String, Object>(model.specialTokens());
        variables.put("documents", None.NONE);
        chat.variables().properties().forEach(each -> variables.put(each.getKey(), values.value(each.getValue())));
        var messages = new ArrayList<Map<String, Object>>();
        chat.messages().forEach(each -> messages.add(values.message(each)));
        var tools = chat.tools();
        variables.put("messages", messages);
        variables.put(
                "tools",
                tools == null ? None.NONE : tools.stream().map(values::tool).toList());
        variables.put("add_generation_prompt", chat.opensAnswer());
        if (!chat.continuesLast() || messages.isEmpty()) {
            return template.render(variables, values.numChars(), now);
        }
        String last = tagged(messages.get(messages.size() - 1));
        return cut(template.render(variables, values.numChars(), now), last);
    }

    /** Puts the tag behind the text of a message, and returns the text. */
    private static String tagged(Map<String, Object> message) {
        var content = message.get("content");
        if (content instanceof String text) {
            message.put("content", text + TAG);
            return text;
        }
        var parts = content instanceof List<?> list ? list : List.of();
        if (parts.isEmpty() || !(parts.get(parts.size() - 1) instanceof Map<?, ?> last)) {
            throw new JinjaException("continue_final_message is set but we could not find any text to continue in the"
                    + " final message!");
        }
        String text = String.valueOf(last.get("text"));
        var replaced = new ArrayList<Object>(parts);
        replaced.set(parts.size() - 1, Map.of("type", "text", "text", text + TAG));
        message.put("content", replaced);
        return text;
    }

    private static String cut(String rendered, String last) {
        int end = rendered.lastIndexOf(TAG.strip());
        if (end < 0 || !rendered.contains(last.strip())) {
            throw new JinjaException("continue_final_message is set but the final message does not appear in the chat"
                    + " after applying the chat template! This can happen if the chat template deletes portions of the"
                    + " final message. Please verify the chat template and final message in your chat to ensure they"
                    + " are compatible.");
        }
        String kept = rendered.substring(0, end);
        // A template that trims the message has taken the tag's own space away, and the message's with it.
        return rendered.startsWith(TAG, end) ? kept : kept.stripTrailing();
    }
}
