package understudy.adopt;

/**
 * A page of metrics at a time.
 *
 * @param seconds on any clock that all scrapes of a series have together
 */
record Scrape(double seconds, MetricsPage page) {}
