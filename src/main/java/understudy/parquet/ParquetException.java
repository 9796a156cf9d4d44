package understudy.parquet;

/** Damage of a Parquet file, or an unknown feature; the message names the file, and the column if there is one. */
public final class ParquetException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    ParquetException(String message) {
        super(message);
    }
}
