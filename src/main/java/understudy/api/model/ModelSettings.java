package understudy.api.model;

import io.soabase.recordbuilder.core.RecordBuilder;
import org.jspecify.annotations.Nullable;
import understudy.api.media.MediaSettings;
import understudy.workload.WholeNumbers;

/**
 * Settings of the made-up model: how answers come about.
 *
 * @param seed of the synthetic text
 * @param maxModelLen longest sequence in tokens, prompt and output together
 * @param hasPriorities whether requests may carry a priority
 * @param tokenizer source of the tokenizer
 * @param chatTemplate the model's own template of chats, or null if it has none
 * @param answers source of answers
 * @param lengths of synthetic answers that end by themselves
 * @param canned answers to replay
 * @param hashAlgorithm vLLM's name for how blocks are hashed
 * @param media tokens that pictures and other media count
 * @param pooling settings of a pooling model; null if the model generates
 */
@RecordBuilder
public record ModelSettings(
        long seed,
        int maxModelLen,
        boolean hasPriorities,
        Tokenizer.Source tokenizer,
        @Nullable ModelTemplate chatTemplate,
        AnswerMode answers,
        WholeNumbers lengths,
        CannedAnswers canned,
        String hashAlgorithm,
        MediaSettings media,
        @Nullable PoolingSettings pooling) {
    /** Source of answers. */
    public enum AnswerMode {
        /** Synthetic text of random length. */
        RANDOM,
        /** The question, word for word. */
        ECHO,
        /** A file. */
        REPLAY
    }
}
