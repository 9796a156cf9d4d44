package understudy.api.openai;

import java.util.ArrayList;
import java.util.List;
import understudy.api.http.ApiException;
import understudy.api.http.Json;
import understudy.api.http.JsonBody;
import understudy.api.media.MediaReader;
import understudy.api.model.ChatMessage;
import understudy.api.model.ToolCall;

/**
 * The conversation that a response answers (vLLM {@code construct_input_messages}): its items are messages, calls of
 * tools, what came of them, reasoning, and references to what was answered before.
 */
final class ResponseInput {
    private final ResponseItems items;
    private final MediaReader media;
    private final List<ChatMessage> messages = new ArrayList<>();
    private List<ToolCall> lastCalls = new ArrayList<>();

    private ResponseInput(ResponseItems items, MediaReader media) {
        this.items = items;
        this.media = media;
    }

    /**
     * Reads the field {@code input}.
     *
     * @param items items of earlier answers
     * @param media reads pictures and the like
     * @param history the conversation so far
     */
    static List<ChatMessage> read(JsonBody body, ResponseItems items, MediaReader media, List<ChatMessage> history) {
        var input = new ResponseInput(items, media);
        history.forEach(input::add);
        var given = body.require("input");
        if (given.isTextual()) {
            input.messages.add(new ChatMessage("user", given.textValue(), List.of()));
        } else {
            body.objects("input").forEach(input::add);
        }
        return input.messages;
    }

    /** Returns a conversation with the field {@code instructions} before it. */
    static List<ChatMessage> instructed(JsonBody body, List<ChatMessage> conversation) {
        String instructions = body.text("instructions");
        var messages = new ArrayList<ChatMessage>();
        if (instructions != null && !instructions.isEmpty()) {
            messages.add(new ChatMessage("system", instructions, List.of()));
        }
        messages.addAll(conversation);
        if (messages.isEmpty()) {
            throw ApiException.badRequest("The decoder prompt cannot be empty", "input");
        }
        return messages;
    }

    private void add(JsonBody item) {
        String type = item.text("type");
        boolean isMessage = item.get("role") != null;
        // The type may be left out where there is nothing but an id.
        boolean isReference = "item_reference".equals(type) || (type == null && !isMessage);
        if (isReference && item.get("id") != null) {
            referred(String.valueOf(item.text("id"))).forEach(this::add);
            return;
        }
        switch (type == null || isMessage ? "message" : type) {
            case "message" -> add(message(item));
            case "function_call" -> add(called(item, orEmpty(item, "arguments")));
            case "custom_tool_call" -> add(called(item, customArguments(item)));
            case "function_call_output", "custom_tool_call_output" ->
                add(new ChatMessage(
                        "tool",
                        ChatMessage.text(item.require("output"), item.at("output"), media),
                        List.of(),
                        Json.object().put("tool_call_id", orEmpty(item, "call_id"))));
            case "reasoning" -> add(reasoning(item));
            default -> throw ApiException.badRequest("Unsupported input item type: " + type, "input");
        }
    }

    /** Returns the message to remember for later responses: its text and tool calls, without the rest of the item. */
    private ChatMessage message(JsonBody item) {
        var message = ChatMessage.read(item, media);
        return new ChatMessage(message.role(), message.content(), message.toolCalls());
    }

    private static ChatMessage called(JsonBody item, String arguments) {
        String name = orEmpty(item, "name");
        String namespace = orEmpty(item, "namespace");
        var call = new ToolCall(
                orEmpty(item, "call_id"),
                namespace.isEmpty() ? name : ResponseTools.flatName(namespace, name),
                arguments);
        return new ChatMessage("assistant", "", List.of(call));
    }

    /** The input of a custom tool is text; the model knows the tool as a function of that text. */
    private static String customArguments(JsonBody item) {
        return Json.write(Json.object().put("input", orEmpty(item, "input")));
    }

    private static String orEmpty(JsonBody item, String key) {
        String text = item.text(key);
        return text == null ? "" : text;
    }

    /** The model's earlier reasoning is not shown to it again. */
    private static ChatMessage reasoning(JsonBody item) {
        if (!orEmpty(item, "encrypted_content").isEmpty()) {
            throw ApiException.badRequest("Encrypted content is not supported.", "input");
        }
        return new ChatMessage("assistant", "", List.of());
    }

    private List<ChatMessage> referred(String id) {
        return items.find(id)
                .orElseThrow(
                        () -> new ApiException(404, "NotFoundError", "Item with id '" + id + "' not found.", "input"));
    }

    /** The assistant's reasoning, text and calls, item by item, are one message, unless it spoke twice. */
    private void add(ChatMessage message) {
        int last = messages.size() - 1;
        boolean continues = last >= 0
                && message.role().equals("assistant")
                && messages.get(last).role().equals("assistant");
        boolean speaksAgain = continues
                && !message.content().isEmpty()
                && !messages.get(last).content().isEmpty();
        if (continues && !speaksAgain) {
            lastCalls.addAll(message.toolCalls());
            String said = messages.get(last).content() + message.content();
            messages.set(last, new ChatMessage("assistant", said, lastCalls));
        } else {
            lastCalls = new ArrayList<>(message.toolCalls());
            messages.add(new ChatMessage(message.role(), message.content(), lastCalls, message.source()));
        }
    }
}
