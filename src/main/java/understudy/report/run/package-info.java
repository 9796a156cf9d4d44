/**
 * What a page about a run shows, and the page.
 *
 * <p>Start with {@link understudy.report.run.RunPage}. {@link understudy.report.run.RunHistory} is filled while the run
 * goes on, in bounded space but for the requests in flight: curves are in intervals that grow with the run, and of
 * requests it keeps a sample by number and the slowest.
 */
@NullMarked
package understudy.report.run;

import org.jspecify.annotations.NullMarked;
