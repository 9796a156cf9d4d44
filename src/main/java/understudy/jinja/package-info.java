/**
 * Interpreter of chat templates: the Jinja that Hugging Face's {@code apply_chat_template} runs, value for value as Python
 * has them. Pure: no clock, no thread, no file.
 */
@NullMarked
package understudy.jinja;

import org.jspecify.annotations.NullMarked;
