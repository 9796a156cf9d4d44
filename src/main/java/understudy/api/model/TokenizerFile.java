package understudy.api.model;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;

/** Tokenizer of a Hugging Face model, loaded from its {@code tokenizer.json}. */
public final class TokenizerFile implements Tokenizer.Source {
    private static final String NAME = "tokenizer.json";

    private final Tokenizer tokenizer;
    private final Path folder;

    /**
     * Loads the file, or that of the folder.
     *
     * @throws IllegalArgumentException if there is none, if it is larger than 128 MiB, or if it is not what it should be; the
     *     message says how, as part of a sentence on the file
     */
    public TokenizerFile(Path path) {
        var file = Files.isDirectory(path) ? path.resolve(NAME) : path;
        folder = Objects.requireNonNullElse(file.toAbsolutePath().getParent(), file);
        tokenizer = new Tokenizer(HuggingFaceCodec.load(file));
    }

    /** Returns where the model's other files are. */
    Path folder() {
        return folder;
    }

    @Override
    public Tokenizer load() {
        return tokenizer;
    }
}
