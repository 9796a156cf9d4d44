/**
 * SGLang's own endpoints ({@code sglang/srt/entrypoints/http_server.py}): its way to generate, and its control of engines.
 * A port has them if a replica behind it has SGLang's engine. What SGLang shares with vLLM is elsewhere: a call becomes a
 * completion, and its answers are written in another format.
 */
@NullMarked
package understudy.api.sglang;

import org.jspecify.annotations.NullMarked;
