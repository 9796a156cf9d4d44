/** What engines report of speculative decoding and of LoRA adapters. */
@NullMarked
package understudy.report.engine;

import org.jspecify.annotations.NullMarked;
