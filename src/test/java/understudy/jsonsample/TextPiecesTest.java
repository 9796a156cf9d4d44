package understudy.jsonsample;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.commons.rng.UniformRandomProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import understudy.api.model.Tokenizer;
import understudy.workload.RandomStreams;

final class TextPiecesTest {
    private static final List<String> PARTS = List.of(
            "word",
            "Word",
            " ",
            "  ",
            "\n",
            " \r\n",
            "\t",
            "'s",
            "'LL",
            "'",
            "\"",
            "1",
            "12345",
            "½",
            "٣",
            "一二",
            "。",
            ", ",
            ".",
            "/",
            "!!",
            "é",
            "e\u0301",
            "\u200d",
            "😀",
            "{\"a\":1}",
            "ß",
            "Σ",
            "नि",
            "_",
            "\u00a0",
            "\u3000");

    private final UniformRandomProvider random = new RandomStreams(5).stream("text-pieces");

    @ParameterizedTest
    @EnumSource(Tokenizer.Vocabulary.class)
    void pieces_giveTheTokensOfTheWhole(Tokenizer.Vocabulary vocabulary) {
        var tokenizer = vocabulary.load();
        for (int i = 0; i < 2000; i++) {
            // Three parts of at most 8 characters and a word: a piece of 64 characters can always end behind some word.
            var words = new StringBuilder();
            for (int word = 0; word < 12; word++) {
                words.append(text(3)).append(" two ");
            }
            String text = words.toString();
            var whole = tokenizer.encode(text);

            var pieces = new TextPieces(text, 64, tokenizer::encode);

            assertThat(pieces.firstTokens(Integer.MAX_VALUE)).as(text).isEqualTo(whole);
            assertThat(pieces.lastTokens(Integer.MAX_VALUE)).as(text).isEqualTo(whole);
            int few = whole.length / 2;
            assertThat(pieces.firstTokens(few)).isEqualTo(Arrays.copyOf(whole, few));
            assertThat(pieces.lastTokens(few)).isEqualTo(Arrays.copyOfRange(whole, whole.length - few, whole.length));
        }
    }

    @Test
    void pieces_neverSplitACharacter_andHoldAllOfTheText() {
        for (int i = 0; i < 1000; i++) {
            String text = "😀a😀".repeat(5) + text(20);
            var seen = new ArrayList<String>();
            var pieces = new TextPieces(text, 2 + random.nextInt(8), piece -> new int[] {seen.add(piece) ? 1 : 0});

            pieces.firstTokens(Integer.MAX_VALUE);

            assertThat(seen).noneMatch(piece -> Character.isLowSurrogate(piece.charAt(0)));
            // A piece equal to the one before it is not encoded again.
            assertThat(text).startsWith(seen.get(0)).endsWith(seen.get(seen.size() - 1));
        }
    }

    @Test
    void work_endsWithTheTokensAskedFor() {
        var seen = new ArrayList<String>();
        var pieces = new TextPieces("a bc def ghij ".repeat(1000), 20, piece -> {
            seen.add(piece);
            return new int[10];
        });

        assertThat(pieces.firstTokens(25)).hasSize(25);
        assertThat(pieces.lastTokens(25)).hasSize(25);

        // Ten tokens for each piece: three pieces each.
        assertThat(seen).hasSizeLessThanOrEqualTo(6);
    }

    @ParameterizedTest
    @EnumSource(Tokenizer.Vocabulary.class)
    void longestToken_isAsLongAsStated(Tokenizer.Vocabulary vocabulary) {
        var tokenizer = vocabulary.load();
        int longest = 0;
        for (int token = 0; token < tokenizer.special("<|im_start|>") - 20; token++) {
            longest = Math.max(longest, tokenizer.decode(token).length());
        }

        assertThat(tokenizer.maxCharsPerToken()).isEqualTo(longest);
    }

    private String text(int numParts) {
        var text = new StringBuilder();
        for (int i = 0; i < numParts; i++) {
            text.append(PARTS.get(random.nextInt(PARTS.size())));
        }
        return text.toString();
    }
}
