package understudy.kvcache;

import understudy.prompt.Prompt;
import understudy.prompt.TokenSource;

/**
 * Question of a lookup: the part of a request that may be cached.
 *
 * @param handle small number by which the replica names the request, unique among its unfinished ones
 * @param prompt the request's prompt
 * @param output the answer to come; only positions below {@code numTokens} are read
 * @param numTokens tokens known so far: the prompt, and for a preempted request its output
 * @param readsCache whether the request may use cached blocks; its own blocks are cached all the same
 */
public record PrefixLookup(int handle, Prompt prompt, TokenSource output, int numTokens, boolean readsCache) {}
