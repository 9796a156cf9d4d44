/**
 * Token sequences and block hashes.
 *
 * <p>Start with {@link understudy.prompt.Prompt}: the tokens of a request, and what its KV cache goes by. {@link
 * understudy.prompt.BlockHasher} turns tokens into the chained hashes of blocks. Everything here is pure.
 */
@NullMarked
package understudy.prompt;

import org.jspecify.annotations.NullMarked;
