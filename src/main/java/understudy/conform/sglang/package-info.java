/**
 * Recordings of SGLang's real scheduler, and their replay.
 *
 * <p>Start with {@link understudy.conform.sglang.SglangReplay}, which plays a {@link
 * understudy.conform.sglang.SglangRecording} turn by turn and compares every field of every turn.
 */
@NullMarked
package understudy.conform.sglang;

import org.jspecify.annotations.NullMarked;
