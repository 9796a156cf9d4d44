package understudy.kvcache;

import java.util.List;
import understudy.kvcache.connector.StorageWord;

/** Memory whose pages also go to a storage behind its host, and come back from there. */
public interface StoredPages {

    /** Returns what is to be done since the last call, in order. */
    List<StorageWord> takeWords();

    /** The storage has so many leading pages of those that were looked for. */
    void onFound(long job, int numPages);

    /** The storage lacks so many of the pages that are to be written, and has room for them. */
    void onPrepared(long job, int numPages);

    /** Pages have been moved, or have not. */
    void onMoved(long job, boolean isFailed);
}
