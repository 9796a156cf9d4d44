package understudy.bench;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import it.unimi.dsi.fastutil.ints.IntList;
import java.util.ArrayList;
import java.util.List;
import understudy.api.model.CommonWords;
import understudy.api.model.Tokenizer;
import understudy.engine.Request;
import understudy.prompt.TokenIds;
import understudy.prompt.TokenSequence;

/**
 * A conversation as the server sees it: the words of the workload, and the server's answers. The workload plans
 * with answers that it has made up; here live ones have their place.
 */
final class Dialogue {
    private static final int NUM_COMPARED = 8;

    private final List<Part> parts = new ArrayList<>();
    private int numPlannedTokens;
    private int[] opening = {};

    /** Words of one side of the dialogue, as text or as token ids. */
    private record Part(boolean isAnswer, String text, IntList ids) {}

    /** Adds the words of a request beyond the turns before it, or all of it if its history was rewritten. */
    void ask(Request request, boolean asIds) {
        var tokens = request.prompt().tokens();
        if (!goesOn(tokens)) {
            parts.clear();
            numPlannedTokens = 0;
            opening = ids(tokens, 0, Math.min(NUM_COMPARED, tokens.length()));
        }
        int count = tokens.length() - numPlannedTokens;
        parts.add(
                asIds
                        ? new Part(false, "", IntList.of(ids(tokens, numPlannedTokens, count)))
                        : new Part(false, text(tokens, numPlannedTokens, count), IntList.of()));
        numPlannedTokens = tokens.length();
    }

    private boolean goesOn(TokenSequence tokens) {
        if (numPlannedTokens == 0 || tokens.length() < numPlannedTokens) {
            return false;
        }
        for (int i = 0; i < opening.length; i++) {
            if (tokens.tokenAt(i) != opening[i]) {
                return false;
            }
        }
        return true;
    }

    /**
     * Adds the answer.
     *
     * @param ids its tokens; may be empty if they are not sent back as ids
     * @param numTokens its length as the workload is told
     */
    void answer(String text, IntList ids, int numTokens) {
        parts.add(new Part(true, text, ids));
        numPlannedTokens += numTokens;
    }

    /** Returns everything as one text. */
    String text() {
        var text = new StringBuilder();
        parts.forEach(part -> text.append(part.text));
        return text.toString();
    }

    /** Returns everything as token ids. */
    ArrayNode ids() {
        var array = JsonNodeFactory.instance.arrayNode();
        parts.forEach(part -> part.ids.forEach(array::add));
        return array;
    }

    /** Returns everything as messages of user and assistant in turn. */
    ArrayNode messages() {
        var array = JsonNodeFactory.instance.arrayNode();
        for (var part : parts) {
            array.addObject().put("role", part.isAnswer ? "assistant" : "user").put("content", part.text);
        }
        return array;
    }

    static int[] ids(TokenSequence tokens, int from, int count) {
        var ids = new int[count];
        tokens.copy(from, count, ids, 0);
        return ids;
    }

    /** Text that was encoded is decoded again, and tokens without a meaning become words. */
    private static String text(TokenSequence tokens, int from, int count) {
        return tokens instanceof TokenIds ? Words.of(tokens) : CommonWords.text(tokens, from, count);
    }

    /** The vocabulary of workloads that come as text, loaded when one does. */
    private static final class Words {
        private static final Tokenizer TOKENIZER = Tokenizer.Vocabulary.CL100K_BASE.load();

        static String of(TokenSequence tokens) {
            return TOKENIZER.decode(tokens);
        }
    }
}
