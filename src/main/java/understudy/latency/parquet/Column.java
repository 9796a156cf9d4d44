package understudy.latency.parquet;

/**
 * A column of a table: for each row the index of its value among the distinct ones, which are texts or numbers.
 *
 * @param indices by row
 * @param texts distinct values of a column of text, else none
 * @param numbers distinct values of a column of numbers, else none
 */
record Column(int[] indices, String[] texts, double[] numbers) {}
