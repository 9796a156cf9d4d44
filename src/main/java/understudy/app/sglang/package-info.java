/** SGLang's command line, read as settings of a scenario. */
@NullMarked
package understudy.app.sglang;

import org.jspecify.annotations.NullMarked;
