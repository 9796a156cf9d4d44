/**
 * SGLang over HTTP ({@code sglang/srt/entrypoints/http_server.py}): its own endpoints, which a port has if a replica behind it
 * has SGLang's engine, and its dialect of {@code /v1}, of errors and of keys, which a port has if all of them do. What SGLang
 * shares with vLLM is elsewhere: a call is turned into one in vLLM's words, and its answers are written in another format.
 */
@NullMarked
package understudy.api.sglang;

import org.jspecify.annotations.NullMarked;
