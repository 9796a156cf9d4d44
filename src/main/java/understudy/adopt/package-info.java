/**
 * From what a running server says of itself to a scenario: start logs, pages of metrics and answers over HTTP are read as
 * {@link understudy.adopt.Finding findings}, each with its place, and findings make a scenario that gives the places in its
 * comments.
 *
 * <p>Start with {@link understudy.adopt.Sources} and {@link understudy.adopt.Adoption}. Whatever fetches and prints is the
 * command's.
 */
@NullMarked
package understudy.adopt;

import org.jspecify.annotations.NullMarked;
