package understudy.app.vllm;

import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import understudy.app.flags.FlagArguments;

/** Flags that say whether a model generates or pools; without them, and with auto, its name says it. */
record TaskFlags(FlagArguments arguments, Map<String, String> settings) {
    private static final String EMBED = "embed";
    private static final String CLASSIFY = "classify";
    private static final Set<String> EMBEDS = Set.of("embed", "embedding", "encode", "pooling", "token_embed");
    private static final Set<String> CLASSIFIES = Set.of("classify", "reward", "token_classify");
    private static final Pattern RERANKER = Pattern.compile("rerank|cross-encoder");
    private static final Pattern CLASSIFIER = Pattern.compile("classif|reward|-rm-|-prm");
    private static final Pattern EMBEDDER =
            Pattern.compile("embed|(^|/)(bge|e5|gte|multilingual-e5|all-minilm|all-mpnet)-|sentence-transformers");

    /** Puts the setting if the model pools. */
    void put(String model) {
        String task = word("task");
        String runner = word("runner");
        String convert = word("convert");
        String name = model.toLowerCase(Locale.ROOT);
        if (task.equals("score")
                || (task.equals(CLASSIFY) && RERANKER.matcher(name).find())) {
            putTask("score");
        } else if (EMBEDS.contains(task) || EMBEDS.contains(convert)) {
            putTask(EMBED);
        } else if (CLASSIFIES.contains(task) || CLASSIFIES.contains(convert)) {
            putTask(RERANKER.matcher(name).find() ? "score" : CLASSIFY);
        } else if (runner.equals("pooling") || (runner.isEmpty() && task.isEmpty())) {
            putByName(name, runner.equals("pooling"));
        }
    }

    /** A word that means what the flag would do without it is as good as none. */
    private String word(String flag) {
        String word = arguments.last(flag).orElse("").toLowerCase(Locale.ROOT);
        return word.equals("auto") || word.equals("none") ? "" : word;
    }

    private void putByName(String name, boolean pools) {
        if (RERANKER.matcher(name).find()) {
            putTask("score");
        } else if (EMBEDDER.matcher(name).find()) {
            putTask(EMBED);
        } else if (pools) {
            putTask(CLASSIFIER.matcher(name).find() ? CLASSIFY : EMBED);
        }
    }

    private void putTask(String task) {
        settings.put("server.task", task);
    }
}
