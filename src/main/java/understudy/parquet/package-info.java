/**
 * Parquet files of flat tables, as far as public measurements use the format: one row group, columns without nulls of
 * text, whole numbers and doubles, each a plain dictionary and pages of indices, compressed with Zstandard or Snappy.
 *
 * <p>Start with {@link understudy.parquet.ParquetTable}. Whatever else the format allows is refused by the name
 * of the file and the column. A file may be hostile: its claims cost bounded memory.
 */
@NullMarked
package understudy.parquet;

import org.jspecify.annotations.NullMarked;
