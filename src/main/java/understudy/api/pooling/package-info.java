/**
 * Routes of pooling models: embeddings, classes and scores. Vectors are made up of the token ids; the time is that of
 * the prefill.
 */
@NullMarked
package understudy.api.pooling;

import org.jspecify.annotations.NullMarked;
