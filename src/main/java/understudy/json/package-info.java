/** Jackson, set up once for all that read and write JSON of our own. */
@NullMarked
package understudy.json;

import org.jspecify.annotations.NullMarked;
