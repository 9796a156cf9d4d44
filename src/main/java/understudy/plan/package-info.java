/**
 * Search for the cheapest deployment that keeps a service level: candidates, loads, bounds and the verdict. Nothing
 * here runs anything.
 */
@NullMarked
package understudy.plan;

import org.jspecify.annotations.NullMarked;
