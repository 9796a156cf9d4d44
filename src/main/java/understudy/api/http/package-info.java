/**
 * HTTP without regard to the API: bodies, JSON, errors, connections, settings.
 *
 * <p>Start with {@link understudy.api.http.HttpBodies} and {@link understudy.api.http.ApiException}.
 */
@NullMarked
package understudy.api.http;

import org.jspecify.annotations.NullMarked;
