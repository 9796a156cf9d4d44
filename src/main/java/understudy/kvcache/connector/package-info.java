/**
 * Sources of KV outside of a replica's own blocks, seen from its scheduler: another replica, host memory, a store.
 *
 * <p>Start with {@link understudy.kvcache.connector.KvConnector}, vLLM's connector interface as far as the scheduler's
 * process has it. Everything here is pure: these classes decide on {@link understudy.kvcache.connector.TransferJob}s,
 * and a worker outside of the room moves the bytes.
 */
@NullMarked
package understudy.kvcache.connector;

import org.jspecify.annotations.NullMarked;
