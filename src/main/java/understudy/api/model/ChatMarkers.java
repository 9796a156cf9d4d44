package understudy.api.model;

import java.util.List;
import java.util.stream.IntStream;
import understudy.prompt.TokenIds;

/**
 * Special tokens between the messages of a conversation: those of ChatML (Qwen, and what comes with the program), of Llama
 * 3, or of Gemma, whichever a tokenizer has; else plain text.
 *
 * @param begin stands before the first message
 * @param open stands before a role
 * @param afterRole stands between a role and a content
 * @param close stands behind a content
 * @param end ends an answer, and is -1 if there is no such token
 * @param assistant the role that answers
 */
record ChatMarkers(Marker begin, Marker open, Marker afterRole, Marker close, int end, String assistant) {
    static final String IM_START = "<|im_start|>";
    static final String IM_END = "<|im_end|>";
    private static final Marker NONE = new Marker("", new TokenIds());
    private static final String ASSISTANT = "assistant";

    private static final List<String> LLAMA_3 = List.of("<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>");

    /** Tokens that end an answer in other models, the likeliest first. */
    private static final List<String> ENDS =
            List.of("<|eot_id|>", "<|return|>", "<end_of_turn>", "<|endoftext|>", "<|end_of_text|>", "</s>", "<eos>");

    /** Text and its tokens. */
    record Marker(String text, TokenIds tokens) {
        boolean isEmpty() {
            return text.isEmpty();
        }
    }

    static ChatMarkers of(TokenCodec codec) {
        if (codec.special(IM_START) >= 0 && codec.special(IM_END) >= 0) {
            return new ChatMarkers(
                    NONE,
                    marker(codec, IM_START, ""),
                    NONE,
                    marker(codec, IM_END, "\n"),
                    codec.special(IM_END),
                    ASSISTANT);
        }
        if (LLAMA_3.stream().allMatch(marker -> codec.special(marker) >= 0)) {
            return new ChatMarkers(
                    begin(codec),
                    marker(codec, "<|start_header_id|>", ""),
                    marker(codec, "<|end_header_id|>", "\n\n"),
                    marker(codec, "<|eot_id|>", ""),
                    codec.special("<|eot_id|>"),
                    ASSISTANT);
        }
        if (codec.special("<start_of_turn>") >= 0 && codec.special("<end_of_turn>") >= 0) {
            return new ChatMarkers(
                    begin(codec),
                    marker(codec, "<start_of_turn>", ""),
                    NONE,
                    marker(codec, "<end_of_turn>", "\n"),
                    codec.special("<end_of_turn>"),
                    "model");
        }
        return new ChatMarkers(begin(codec), NONE, NONE, text(codec, "\n"), end(codec), ASSISTANT);
    }

    private static int end(TokenCodec codec) {
        return ENDS.stream()
                .mapToInt(codec::special)
                .filter(token -> token >= 0)
                .findFirst()
                .orElse(-1);
    }

    private static Marker begin(TokenCodec codec) {
        var prefix = codec.prefix();
        var text = new StringBuilder();
        for (int i = 0; i < prefix.length(); i++) {
            text.append(Tokenizer.text(codec.bytes(prefix.tokenAt(i))));
        }
        return new Marker(text.toString(), prefix);
    }

    /** A special token, and text behind it. */
    private static Marker marker(TokenCodec codec, String special, String behind) {
        var tokens = IntStream.concat(
                IntStream.of(codec.special(special)), IntStream.of(codec.first(behind, Integer.MAX_VALUE)));
        return new Marker(special + behind, new TokenIds(tokens.toArray()));
    }

    private static Marker text(TokenCodec codec, String text) {
        return new Marker(text, new TokenIds(codec.first(text, Integer.MAX_VALUE)));
    }

    /** Returns the text that names a role; a marker follows, or a line break of the text itself. */
    String role(String role) {
        String name = role.equals(ASSISTANT) ? assistant : role;
        return afterRole.isEmpty() ? name + "\n" : name;
    }
}
