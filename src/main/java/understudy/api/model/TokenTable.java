package understudy.api.model;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import understudy.json.Jackson;

/**
 * Tokens of a {@code tokenizer.json} and their bytes, as the decoders of the library {@code tokenizers} have them:
 * bytes as characters (ByteLevel, GPT-2's table), spaces as U+2581 with bytes as {@code <0xE2>} (Metaspace, ByteFallback),
 * pieces of words behind {@code ##} (WordPiece).
 */
final class TokenTable {
    private static final ObjectMapper JSON = Jackson.mapper();
    private static final long MAX_BYTES = 128L << 20;
    private static final int MAX_TOKENS = 4_000_000;
    private static final Pattern BYTE = Pattern.compile("<0x([0-9A-Fa-f]{2})>");
    private static final int FIRST_PRINTABLE = 0x21;
    private static final int NO_BYTE = -1;

    private enum Kind {
        BYTE_LEVEL,
        METASPACE,
        WORD_PIECE
    }

    private final Kind kind;
    private final List<@Nullable String> texts;
    private final Map<Integer, Boolean> added = new HashMap<>();
    private final Map<String, Integer> specials = new HashMap<>();
    private final int[] byteOfChar = byteOfChar();
    private int maxChars = 1;

    private TokenTable(JsonNode json) {
        kind = kind(json);
        texts = new ArrayList<>();
        readVocabulary(json.path("model").path("vocab"));
        for (var token : json.path("added_tokens")) {
            int id = token.path("id").asInt(-1);
            put(id, token.path("content").asText());
            added.put(id, token.path("special").asBoolean());
            specials.put(token.path("content").asText(), id);
        }
        if (texts.isEmpty()) {
            throw new IllegalArgumentException("which has no vocabulary (model.vocab)");
        }
    }

    /**
     * Reads the file.
     *
     * @throws IllegalArgumentException if it is not what it should be; the message says how
     */
    static TokenTable read(Path file) {
        try {
            if (!Files.isRegularFile(file)) {
                throw new IllegalArgumentException("which is not a file");
            }
            if (Files.size(file) > MAX_BYTES) {
                throw new IllegalArgumentException("which is larger than " + (MAX_BYTES >> 20) + " MiB");
            }
            return new TokenTable(JSON.readTree(file.toFile()));
        } catch (JacksonException e) {
            throw new IllegalArgumentException("which is not JSON: " + e.getOriginalMessage(), e);
        } catch (IOException e) {
            throw new IllegalArgumentException("which cannot be read: " + e.getMessage(), e);
        }
    }

    private static Kind kind(JsonNode json) {
        if (json.path("model").path("type").asText().equals("WordPiece")) {
            return Kind.WORD_PIECE;
        }
        return json.path("decoder").findValuesAsText("type").contains("ByteLevel") ? Kind.BYTE_LEVEL : Kind.METASPACE;
    }

    /** An object of ids by token, or, of a Unigram model, an array of tokens and scores. */
    private void readVocabulary(JsonNode vocabulary) {
        if (vocabulary.isArray()) {
            for (int id = 0; id < vocabulary.size(); id++) {
                put(id, vocabulary.get(id).path(0).asText());
            }
        } else {
            vocabulary.properties().forEach(entry -> put(entry.getValue().asInt(-1), entry.getKey()));
        }
    }

    private void put(int id, String text) {
        if (id < 0 || id >= MAX_TOKENS) {
            throw new IllegalArgumentException("whose token ids must be from 0 to " + (MAX_TOKENS - 1) + ", not " + id);
        }
        while (texts.size() <= id) {
            texts.add(null);
        }
        texts.set(id, text);
        maxChars = Math.max(maxChars, text.length());
    }

    byte @Nullable [] bytes(int token) {
        String text = token < 0 || token >= texts.size() ? null : texts.get(token);
        if (text == null) {
            return null;
        }
        return added.containsKey(token) ? text.getBytes(StandardCharsets.UTF_8) : decoded(text);
    }

    private byte[] decoded(String text) {
        return switch (kind) {
            case BYTE_LEVEL -> ofByteLevel(text);
            case METASPACE -> ofMetaspace(text);
            case WORD_PIECE ->
                (text.startsWith("##") ? text.substring(2) : " " + text).getBytes(StandardCharsets.UTF_8);
        };
    }

    private byte[] ofByteLevel(String text) {
        var bytes = new ByteArrayOutputStream();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c < byteOfChar.length && byteOfChar[c] != NO_BYTE) {
                bytes.write(byteOfChar[c]);
            } else {
                bytes.writeBytes(String.valueOf(c).getBytes(StandardCharsets.UTF_8));
            }
        }
        return bytes.toByteArray();
    }

    private static byte[] ofMetaspace(String text) {
        var single = BYTE.matcher(text);
        return single.matches()
                ? new byte[] {(byte) Integer.parseInt(single.group(1), 16)}
                : text.replace('\u2581', ' ').getBytes(StandardCharsets.UTF_8);
    }

    /** GPT-2's table: printable bytes of Latin-1 are themselves, all others follow each other from U+0100 on. */
    private static int[] byteOfChar() {
        var bytes = new int[0x200];
        Arrays.fill(bytes, NO_BYTE);
        int next = 0x100;
        for (int each = 0; each < 0x100; each++) {
            boolean isPrintable = (each >= FIRST_PRINTABLE && each <= 0x7E)
                    || (each >= 0xA1 && each <= 0xAC)
                    || (each >= 0xAE && each <= 0xFF);
            bytes[isPrintable ? each : next++] = each;
        }
        return bytes;
    }

    boolean isSpecial(int token) {
        return added.getOrDefault(token, false);
    }

    int special(String text) {
        return specials.getOrDefault(text, -1);
    }

    int size() {
        return texts.size();
    }

    int maxChars() {
        return maxChars;
    }
}
