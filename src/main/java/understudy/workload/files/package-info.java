/**
 * Files of traces and sessions: one by itself, gzip'd or not, or those of a folder, a tar or a zip archive, within bounds
 * that keep an archive made to do harm from taking all time or memory. Classes of the archive library are loaded only when
 * there is an archive.
 */
@NullMarked
package understudy.workload.files;

import org.jspecify.annotations.NullMarked;
