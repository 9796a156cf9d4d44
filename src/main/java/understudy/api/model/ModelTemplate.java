package understudy.api.model;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import understudy.jinja.JinjaTemplate;
import understudy.jinja.python.JinjaException;
import understudy.json.Jackson;

/**
 * A model's chat template, and the names of special tokens that it may write.
 *
 * @param withoutTools the template
 * @param withTools the template for requests with tools, which most models do not have apart
 * @param specialTokens texts by the names of variables, such as {@code bos_token}
 */
public record ModelTemplate(JinjaTemplate withoutTools, JinjaTemplate withTools, Map<String, String> specialTokens) {
    private static final String FILE = "chat_template.jinja";
    private static final String CONFIG = "tokenizer_config.json";
    private static final long MAX_BYTES = 64L << 20;
    private static final List<String> SPECIAL_TOKENS =
            List.of("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token");

    JinjaTemplate template(boolean hasTools) {
        return hasTools ? withTools : withoutTools;
    }

    /**
     * Loads a template, as vLLM does.
     *
     * @param setting a file, or the template itself; {@code auto} for the one that belongs to the tokenizer, {@code none}
     *     for none at all
     * @return the template, or null if there is none
     * @throws IllegalArgumentException if a file or the template is not what it should be; the message says how, as part of
     *     a sentence on the setting
     */
    public static @Nullable ModelTemplate read(String setting, Tokenizer.Source tokenizer) {
        var folder = tokenizer instanceof TokenizerFile file ? file.folder() : null;
        return switch (setting) {
            case "none" -> null;
            case "auto" -> folder == null ? null : beside(folder);
            default -> asked(setting, folder);
        };
    }

    /** A file {@code chat_template.jinja} goes before the field {@code chat_template}, as in transformers. */
    private static @Nullable ModelTemplate beside(Path folder) {
        var config = config(folder);
        if (Files.isRegularFile(folder.resolve(FILE))) {
            return of(read(folder.resolve(FILE)), folder.resolve(FILE).toString(), config);
        }
        var given = config.path("chat_template");
        String where = folder.resolve(CONFIG).toString();
        if (given.isTextual()) {
            return of(given.textValue(), where, config);
        }
        var byName = new HashMap<String, String>();
        given.forEach(each ->
                byName.put(each.path("name").asText(), each.path("template").asText()));
        String main = byName.get("default");
        if (main == null) {
            return null;
        }
        var parsed = parse(main, where);
        String withTools = byName.get("tool_use");
        return new ModelTemplate(parsed, withTools == null ? parsed : parse(withTools, where), specialTokens(config));
    }

    private static ModelTemplate asked(String fileOrText, @Nullable Path folder) {
        var config = folder == null ? MissingNode.getInstance() : config(folder);
        boolean isText = fileOrText.contains("{") || fileOrText.contains("\n");
        if (isText) {
            return of(fileOrText.replace("\\n", "\n"), "the text", config);
        }
        if (!Files.isRegularFile(Path.of(fileOrText))) {
            throw new IllegalArgumentException("which is neither a file nor a template");
        }
        return of(read(Path.of(fileOrText)), "it", config);
    }

    private static ModelTemplate of(String text, String where, JsonNode config) {
        var template = parse(text, where);
        return new ModelTemplate(template, template, specialTokens(config));
    }

    private static JinjaTemplate parse(String text, String where) {
        try {
            return JinjaTemplate.parse(text);
        } catch (JinjaException e) {
            throw new IllegalArgumentException("but " + where + " is no chat template: " + e.getMessage(), e);
        }
    }

    private static JsonNode config(Path folder) {
        var file = folder.resolve(CONFIG);
        if (!Files.isRegularFile(file)) {
            return MissingNode.getInstance();
        }
        try {
            return Jackson.mapper().readTree(read(file));
        } catch (JacksonException e) {
            throw new IllegalArgumentException("but " + file + " is not JSON: " + e.getOriginalMessage(), e);
        }
    }

    private static String read(Path file) {
        try {
            if (Files.size(file) > MAX_BYTES) {
                throw new IllegalArgumentException("but " + file + " is larger than " + (MAX_BYTES >> 20) + " MiB");
            }
            return Files.readString(file, StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new IllegalArgumentException("but " + file + " cannot be read: " + e.getMessage(), e);
        }
    }

    /** A special token is a text, or an object with the text. */
    private static Map<String, String> specialTokens(JsonNode config) {
        var tokens = new HashMap<String, String>();
        for (String name : SPECIAL_TOKENS) {
            var token = config.path(name).isObject() ? config.path(name).path("content") : config.path(name);
            if (token.isTextual()) {
                tokens.put(name, token.textValue());
            }
        }
        return tokens;
    }
}
