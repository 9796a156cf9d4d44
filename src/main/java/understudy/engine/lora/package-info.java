/** LoRA adapters: which may run in one step, and which are loaded. */
@NullMarked
package understudy.engine.lora;

import org.jspecify.annotations.NullMarked;
