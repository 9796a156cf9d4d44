package understudy.parquet;

/** A column of a table: for each row the index of its value among the distinct ones, which are texts or numbers. */
final class Column {
    private final int[] indices;
    private final String[] texts;
    private final double[] numbers;

    /** Takes the distinct values of one kind, and none of the other. */
    Column(int[] indices, String[] texts, double[] numbers) {
        this.indices = indices;
        this.texts = texts;
        this.numbers = numbers;
    }

    boolean isText() {
        return texts.length > 0;
    }

    String text(int row) {
        return texts[indices[row]];
    }

    double number(int row) {
        return numbers[indices[row]];
    }
}
