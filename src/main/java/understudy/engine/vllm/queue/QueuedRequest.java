package understudy.engine.vllm.queue;

import understudy.prompt.TokenSequence;

/** Properties of a request that the order of a waiting queue may depend on. */
public interface QueuedRequest {
    long id();

    /** Returns the name that the client knows it by. */
    String name();

    /** Returns the priority; smaller goes first. */
    int priority();

    long arrivalNanos();

    int numPromptTokens();

    TokenSequence promptTokens();
}
