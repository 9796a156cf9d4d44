package understudy.api.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import understudy.api.http.Json;
import understudy.api.http.JsonBody;
import understudy.prompt.TokenIds;

/** Tokenizers of Hugging Face models, by a small one of our own. */
final class TokenizerFileTest {
    @TempDir
    private Path folder;

    /** hexo is he, x and o, since he comes first of the merges; 32 is the space. */
    @Test
    void text_isMerged() throws IOException {
        var tokenizer = tokenizer();

        assertThat(tokenizer.encode("hello hexo")).containsExactly(259, 32, 256, 'x', 'o');
        assertThat(tokenizer.encode("hello hexo", 2)).containsExactly(259, 32);
        assertThat(tokenizer.encodeEnd("hello hexo", 2)).containsExactly('x', 'o');
        assertThat(tokenizer.encode("a<|im_end|>")).containsExactly('a', 262);
    }

    @Test
    void prompt_beginsWithTheModelsToken() throws IOException {
        var tokenizer = tokenizer();

        assertThat(PromptText.between(tokenizer, "hello").encode(tokenizer, 10)).containsExactly(260, 259);
        assertThat(PromptText.between(tokenizer, "").encode(tokenizer, 10)).containsExactly(260);
    }

    /** <|im_start|>user, a line break, the text, <|im_end|>, a line break, <|im_start|>assistant, a line break. */
    @Test
    void chat_hasTheModelsMarkers() throws IOException {
        var tokenizer = tokenizer();
        var messages = List.of(new ChatMessage("user", "hello", List.of()));
        var prompt = new MarkedTemplate(tokenizer).render(ChatPrompt.read(new JsonBody(Json.object()), messages, null));

        assertThat(prompt.encode(tokenizer, 100))
                .startsWith(261, 'u', 's', 'e', 'r', '\n', 259, 262, '\n', 261)
                .endsWith('n', 't', '\n');
        assertThat(tokenizer.endToken()).isEqualTo(262);
        assertThat(tokenizer.isSpecial(262)).isTrue();
        assertThat(tokenizer.isSpecial(259)).isFalse();
    }

    /** The euro sign is the bytes E2 82 AC, each a token; all 256 bytes come back as they were. */
    @Test
    void tokens_areTheirBytes() throws IOException {
        var tokenizer = tokenizer();

        assertThat(tokenizer.encode("€")).containsExactly(0xE2, 0x82, 0xAC);
        assertThat(tokenizer.decode(new TokenIds(259, 0xE2, 0x82, 0xAC, 262))).isEqualTo("hello€<|im_end|>");
        for (int token = 0; token < 256; token++) {
            assertThat(tokenizer.text(token).bytes().get(0)).isEqualTo((byte) token);
        }
        assertThat(tokenizer.maxCharsPerToken()).isEqualTo("<|im_start|>".length());
    }

    /** The table ends with U+0143: what is no byte of it is a character like any other. */
    @Test
    void characterOutsideOfTheTable_isItself() throws IOException {
        var file = Files.writeString(folder.resolve("odd.json"), """
                {"model": {"type": "BPE", "vocab": {"\u0144": 0, "\u0120a": 1}}, "decoder": {"type": "ByteLevel"}}""");
        var table = TokenTable.read(file);

        assertThat(table.bytes(0)).isEqualTo("\u0144".getBytes(StandardCharsets.UTF_8));
        assertThat(table.bytes(1)).isEqualTo(" a".getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void prose_isMadeOfAnyTokens() throws IOException {
        var tokens = new Prose(tokenizer()).tokens(1, true);

        for (int i = 0; i < 50; i++) {
            assertThat(tokens.tokenAt(i)).isBetween(0, 259);
        }
    }

    @Test
    void sentencePieces_haveSpacesAndBytes() throws IOException {
        var file = Files.writeString(folder.resolve("pieces.json"), """
                {"model": {"type": "Unigram", "vocab": [["<unk>", 0], ["\u2581the", -1], ["<0xE2>", -2]]},
                 "decoder": {"type": "Metaspace"}}""", StandardCharsets.UTF_8);
        var table = TokenTable.read(file);

        assertThat(table.bytes(1)).isEqualTo(" the".getBytes(StandardCharsets.UTF_8));
        assertThat(table.bytes(2)).containsExactly(0xE2);
        assertThat(table.bytes(3)).isNull();
    }

    @Test
    void brokenFiles_areRefused() throws IOException {
        refuses("{\"model\": ", "which is not JSON");
        refuses("{}", "which has no vocabulary");
        refuses("{\"model\": {\"vocab\": {\"a\": 0}}}", "which cannot be loaded");
        refuses("{\"model\": {\"vocab\": {\"a\": 5000000}}}", "whose token ids must be from 0 to 3999999, not 5000000");
        assertThatThrownBy(() -> new TokenizerFile(folder)).hasMessage("which is not a file");
    }

    @Test
    void oversizedFile_isRefusedUnread() throws IOException {
        var file = folder.resolve("large.json");
        try (var sparse = new RandomAccessFile(file.toFile(), "rw")) {
            sparse.setLength((128L << 20) + 1);
        }

        assertThatThrownBy(() -> new TokenizerFile(file)).hasMessage("which is larger than 128 MiB");
    }

    private void refuses(String json, String message) throws IOException {
        var file = Files.writeString(folder.resolve("broken.json"), json);

        assertThatThrownBy(() -> new TokenizerFile(file))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(message);
    }

    private Tokenizer tokenizer() throws IOException {
        SmallTokenizer.write(folder);
        return new TokenizerFile(folder).load();
    }
}
