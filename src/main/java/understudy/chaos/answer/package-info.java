/** Answers of the conformance kit: a score card for the console, JUnit XML, JSON and a page. Each is a pure function. */
@NullMarked
package understudy.chaos.answer;

import org.jspecify.annotations.NullMarked;
