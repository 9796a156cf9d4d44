package understudy.fidelity;

import it.unimi.dsi.fastutil.doubles.DoubleList;

/**
 * Times of an answer, as its client saw them.
 *
 * @param sentNanos when its request was sent
 * @param numPromptTokens of the request
 * @param tokenNanos when each token came, in ascending order
 */
record AnswerTimes(double sentNanos, int numPromptTokens, DoubleList tokenNanos) {}
