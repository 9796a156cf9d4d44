/** vLLM's command line, read as settings of a scenario. */
@NullMarked
package understudy.app.vllm;

import org.jspecify.annotations.NullMarked;
