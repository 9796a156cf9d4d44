/** What LoRA adapters add to a step: their kernels, and the time until they are on the GPU. */
@NullMarked
package understudy.latency.lora;

import org.jspecify.annotations.NullMarked;
