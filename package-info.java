/**
 * Command line of {@code vllm serve}: its flags, and the settings that they become.
 *
 * <p>Start with {@link understudy.app.vllm.VllmServe}.
 */
@NullMarked
package understudy.app.vllm;

import org.jspecify.annotations.NullMarked;
