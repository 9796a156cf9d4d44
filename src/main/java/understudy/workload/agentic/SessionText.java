package understudy.workload.agentic;

import java.io.InputStream;

/**
 * Text of one session.
 *
 * @param file name for messages
 * @param line of the file on which it begins, from 1
 * @param in the text, readable until the next one is asked for
 */
record SessionText(String file, long line, InputStream in) {}
