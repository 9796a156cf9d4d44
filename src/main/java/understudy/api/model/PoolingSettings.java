package understudy.api.model;

/**
 * Settings of a pooling model, whose answers are vectors and scores.
 *
 * @param task task that it was made for
 * @param embeddingSize length of its vectors
 * @param numLabels classes that it tells apart
 */
public record PoolingSettings(Task task, int embeddingSize, int numLabels) {
    /** Kind of pooling model (vLLM's pooling tasks). */
    public enum Task {
        /** Vectors of texts, and by them the likeness of two. */
        EMBED,
        /** Probabilities of classes. */
        CLASSIFY,
        /** A score for two texts that are read together (a cross-encoder). */
        SCORE
    }
}
