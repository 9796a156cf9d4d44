/**
 * Page about a run, and the data that it shows.
 *
 * <p>Start with {@link understudy.report.run.RunPage}. {@link understudy.report.run.RunHistory} is filled while the run
 * goes on, in bounded space but for the requests in flight: curves are in intervals that grow with the run, and of
 * requests it keeps a sample by number and the slowest.
 */
@NullMarked
package understudy.report.run;

import org.jspecify.annotations.NullMarked;
