package understudy.api.model;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A {@code tokenizer.json} of our own, byte-level byte-pair encoding: bytes are tokens 0 to 255, four merges are 256 to 259
 * (he, ll, hell, hello), prompts begin with the token 260, 261 and 262 are those of ChatML.
 */
public final class SmallTokenizer {
    private static final ObjectMapper JSON = new ObjectMapper();

    private SmallTokenizer() {}

    /** Writes the file to a folder, and returns it. */
    public static Path write(Path folder) throws IOException {
        var root = JSON.createObjectNode().put("version", "1.0");
        root.putNull("truncation").putNull("padding").putNull("normalizer");
        root.putObject("pre_tokenizer")
                .put("type", "ByteLevel")
                .put("add_prefix_space", false)
                .put("trim_offsets", true)
                .put("use_regex", true);
        root.putObject("decoder")
                .put("type", "ByteLevel")
                .put("add_prefix_space", false)
                .put("trim_offsets", true)
                .put("use_regex", true);
        var added = root.putArray("added_tokens");
        for (String special : List.of("<s>", "<|im_start|>", "<|im_end|>")) {
            added.addObject()
                    .put("id", 260 + added.size() - 1)
                    .put("content", special)
                    .put("single_word", false)
                    .put("lstrip", false)
                    .put("rstrip", false)
                    .put("normalized", false)
                    .put("special", true);
        }
        beginning(root);
        model(root.putObject("model"));
        return Files.writeString(folder.resolve("tokenizer.json"), JSON.writeValueAsString(root));
    }

    private static void beginning(ObjectNode root) {
        var processor = root.putObject("post_processor").put("type", "TemplateProcessing");
        var single = processor.putArray("single");
        single.addObject().putObject("SpecialToken").put("id", "<s>").put("type_id", 0);
        single.addObject().putObject("Sequence").put("id", "A").put("type_id", 0);
        var pair = processor.putArray("pair");
        pair.addObject().putObject("Sequence").put("id", "A").put("type_id", 0);
        pair.addObject().putObject("Sequence").put("id", "B").put("type_id", 1);
        var special = processor.putObject("special_tokens").putObject("<s>").put("id", "<s>");
        special.putArray("ids").add(260);
        special.putArray("tokens").add("<s>");
    }

    private static void model(ObjectNode model) {
        model.put("type", "BPE").putNull("dropout").putNull("unk_token").put("byte_fallback", false);
        var vocabulary = model.putObject("vocab");
        int numOthers = 0;
        for (int each = 0; each < 256; each++) {
            boolean isPrintable = (each >= '!' && each <= '~') || (each >= 0xA1 && each != 0xAD);
            vocabulary.put(String.valueOf((char) (isPrintable ? each : 0x100 + numOthers++)), each);
        }
        List.of("he", "ll", "hell", "hello").forEach(text -> vocabulary.put(text, vocabulary.size()));
        var merges = model.putArray("merges");
        List.of("h e", "l l", "he ll", "hell o").forEach(merges::add);
    }
}
