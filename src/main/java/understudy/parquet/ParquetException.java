package understudy.parquet;

/** A Parquet file that is damaged, or uses what is not read; the message names the file, and the column if it is one's. */
public final class ParquetException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    ParquetException(String message) {
        super(message);
    }
}
