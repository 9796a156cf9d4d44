/**
 * Contract of engines: the decisions of a replica in one step, whichever family the engine is of.
 *
 * <p>Start with {@link understudy.engine.Engine}, an engine as a state machine: it asks the KV memory for blocks and is
 * told the answer, so that actors and plain loops drive the same code. {@link understudy.engine.EngineFamily} reads the
 * settings of a family, and {@link understudy.engine.EngineSpec} makes engines and their memories. Each family has a room of
 * its own, {@code engine.vllm} the largest; nothing outside knows which family an engine is of. Everything here is pure and
 * confined to one thread.
 */
@NullMarked
package understudy.engine;

import org.jspecify.annotations.NullMarked;
