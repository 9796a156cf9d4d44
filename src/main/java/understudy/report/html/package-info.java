/**
 * Pages of one file: title, verdict, sections, tables and charts, all complete without a network.
 *
 * <p>Start with {@link understudy.report.html.HtmlPage}. A chart is data; one script, which every page holds beside
 * Chart.js, draws it in the colours of the reader's system. Equal content gives equal bytes.
 */
@NullMarked
package understudy.report.html;

import org.jspecify.annotations.NullMarked;
