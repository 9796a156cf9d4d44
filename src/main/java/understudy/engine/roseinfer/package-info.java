/**
 * Engine of roseinfer: its worker loop and its settings.
 *
 * <p>Start with {@link understudy.engine.roseinfer.RoseinferFamily}.
 */
@NullMarked
package understudy.engine.roseinfer;

import org.jspecify.annotations.NullMarked;
