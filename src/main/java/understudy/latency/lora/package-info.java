/** Time that LoRA adapters add to a step: their kernels, and loading them to the GPU. */
@NullMarked
package understudy.latency.lora;

import org.jspecify.annotations.NullMarked;
