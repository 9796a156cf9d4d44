/**
 * Pages of one file, complete without a network: an HTML file for each kind of page, the JSON of a result, and a script for
 * each kind of section, which shows what is at a path of the JSON.
 *
 * <p>Start with {@link understudy.report.html.Page} and one of the HTML files, such as {@code
 * understudy/report/run/run.html}. Charts are drawn in the colours of the reader's system. Equal content gives equal bytes.
 */
@NullMarked
package understudy.report.html;

import org.jspecify.annotations.NullMarked;
