package understudy.bench;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import understudy.engine.Request;

/** All conversations that go on, and the bodies of their requests, as {@code vllm bench serve} sends them. */
final class Dialogues {
    private final BenchTarget target;
    private final Long2ObjectOpenHashMap<Dialogue> bySession = new Long2ObjectOpenHashMap<>();
    private boolean hasMadeUpAnswers;

    Dialogues(BenchTarget target) {
        this.target = target;
    }

    /** Returns the body of a request, whose turn its conversation has. */
    ObjectNode body(Request request) {
        var turn = request.prompt().turn();
        var dialogue = turn.isConversationalTurn()
                ? bySession.computeIfAbsent(turn.sessionId(), id -> new Dialogue())
                : new Dialogue();
        if (turn.isInSession()) {
            bySession.put(turn.sessionId(), dialogue);
        }
        dialogue.ask(request, target.sendsIds());
        return body(request, dialogue);
    }

    private ObjectNode body(Request request, Dialogue dialogue) {
        return target.isGenerate() ? generateBody(request, dialogue) : openAiBody(request, dialogue);
    }

    /** As {@code async_request_sglang_generate} of {@code sglang/bench_serving.py}. */
    private ObjectNode generateBody(Request request, Dialogue dialogue) {
        var body = JsonNodeFactory.instance.objectNode();
        if (target.sendsIds()) {
            body.set("input_ids", dialogue.ids());
        } else {
            body.put("text", dialogue.text());
        }
        body.putObject("sampling_params")
                .put("temperature", 0.0)
                .put("max_new_tokens", request.maxTokens())
                .put("ignore_eos", target.ignoresEos());
        String adapter = request.prompt().loraName();
        body.put("stream", true)
                .put("lora_path", adapter.isEmpty() ? null : adapter)
                .put("return_logprob", false)
                .put("logprob_start_len", -1);
        return body.setAll(target.extraBody());
    }

    private ObjectNode openAiBody(Request request, Dialogue dialogue) {
        var body = JsonNodeFactory.instance.objectNode().put("model", model(request));
        if (target.isChat()) {
            body.set("messages", dialogue.messages());
            body.put("max_completion_tokens", request.maxTokens());
        } else {
            body.set("prompt", target.sendsIds() ? dialogue.ids() : body.textNode(dialogue.text()));
            body.put("repetition_penalty", 1.0).put("max_tokens", request.maxTokens());
        }
        body.put("stream", true).putObject("stream_options").put("include_usage", true);
        if (target.ignoresEos()) {
            body.put("ignore_eos", true);
        }
        if (request.priority() != 0) {
            body.put("priority", request.priority());
        }
        if (!request.tenant().isEmpty()) {
            body.put("user", request.tenant());
        }
        if (target.sendsIds() && request.prompt().turn().isInSession()) {
            body.put("return_token_ids", true);
        }
        return body.setAll(target.extraBody());
    }

    /** An adapter is a model of its own to a server. */
    private String model(Request request) {
        String adapter = request.prompt().loraName();
        return adapter.isEmpty() ? target.model() : adapter;
    }

    /** Takes the answer to a request into its conversation; a request without an answer ends it. */
    void onEnded(Request request, LiveAnswer answer) {
        long session = request.prompt().turn().sessionId();
        var dialogue = bySession.get(session);
        if (dialogue == null) {
            return;
        }
        if (!answer.isCompleted()) {
            bySession.remove(session);
            return;
        }
        dialogue.answer(answer.text(), ids(request, answer), answer.outputTokens());
    }

    private IntList ids(Request request, LiveAnswer answer) {
        if (!target.sendsIds() || !answer.tokenIds().isEmpty()) {
            return answer.tokenIds();
        }
        hasMadeUpAnswers = true;
        var ids = new int[answer.outputTokens()];
        request.output().tokens().copy(0, ids.length, ids, 0);
        return IntList.of(ids);
    }

    /** Forgets a conversation that has no further turn. */
    void end(Request request) {
        bySession.remove(request.prompt().turn().sessionId());
    }

    /** Returns whether a history had a made-up answer in it, since the server does not return token ids. */
    boolean hasMadeUpAnswers() {
        return hasMadeUpAnswers;
    }
}
