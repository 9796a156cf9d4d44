/**
 * Sessions of agents: recorded conversations of many turns, with sub-agents, whose prompts are named block by block.
 *
 * <p>Start with {@link understudy.workload.agentic.AgenticWorkload}. {@code SessionTexts} finds the files of sessions,
 * {@code SessionReader} reads one, and a {@code SessionPlay} is one that is being played.
 */
@NullMarked
package understudy.workload.agentic;

import org.jspecify.annotations.NullMarked;
