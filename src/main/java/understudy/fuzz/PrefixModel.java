package understudy.fuzz;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import understudy.kvcache.BlockCacheSpec;
import understudy.kvcache.FullHit;
import understudy.kvcache.KvCacheSpec;
import understudy.kvcache.PrefixLookup;
import understudy.kvcache.content.ContentConfig;
import understudy.kvcache.content.PromptConfig;
import understudy.kvcache.hybrid.HybridConfig;
import understudy.prompt.Prompt;

/**
 * Plain model of a memory that finds prefixes by content: a map of block contents, which never gives anything up. A memory
 * never finds more, and as much until it has evicted something.
 */
final class PrefixModel {
    private final BlockCacheSpec config;
    private final boolean findsPrompts;
    private final boolean recomputesLastToken;
    private final boolean keepsAnswers;
    private final Map<Block, Integer> blocks = new HashMap<>();

    /** Tokens behind those of another block; a prompt that is cached whole is one block. */
    private record Block(int parent, List<Integer> tokens) {}

    private PrefixModel(
            BlockCacheSpec config, boolean findsPrompts, boolean recomputesLastToken, boolean keepsAnswers) {
        this.config = config;
        this.findsPrompts = findsPrompts;
        this.recomputesLastToken = recomputesLastToken;
        this.keepsAnswers = keepsAnswers;
    }

    /** Returns the model of a memory, or null if it finds prefixes in another way. */
    static @Nullable PrefixModel of(KvCacheSpec spec) {
        if (spec instanceof ContentConfig content) {
            boolean recomputes = content.fullHit() == FullHit.RECOMPUTE_LAST_TOKEN;
            return new PrefixModel(content, false, recomputes, content.cachesGeneratedBlocks());
        }
        if (spec instanceof HybridConfig hybrid) {
            return new PrefixModel(hybrid, false, true, true);
        }
        return spec instanceof PromptConfig prompts ? new PrefixModel(prompts, true, false, true) : null;
    }

    /** Returns the leading tokens that can be found. */
    int numHitTokens(PrefixLookup lookup) {
        if (!config.enablePrefixCaching() || !lookup.readsCache()) {
            return 0;
        }
        int unit = unit(lookup.prompt());
        int limit = findable(lookup, lookup.numTokens() - (recomputesLastToken ? 1 : 0));
        int end = 0;
        Integer block = root(lookup.prompt());
        while (end + unit <= limit) {
            block = blocks.get(new Block(block, tokens(lookup, end, end + unit)));
            if (block == null) {
                break;
            }
            end += unit;
        }
        return config.dropsLastHit() ? Math.max(0, end - unit) : end;
    }

    /** Keeps the full blocks of the first {@code numTokens} tokens. */
    void store(PrefixLookup lookup, int numTokens) {
        if (!config.enablePrefixCaching()) {
            return;
        }
        int limit = findable(
                lookup,
                keepsAnswers ? numTokens : Math.min(numTokens, lookup.prompt().length()));
        int unit = unit(lookup.prompt());
        int parent = root(lookup.prompt());
        for (int end = unit; end <= limit; end += unit) {
            int next = blocks.size() + 1;
            var known = blocks.putIfAbsent(new Block(parent, tokens(lookup, end - unit, end)), next);
            parent = known == null ? next : known;
        }
    }

    void clear() {
        blocks.clear();
    }

    private int unit(Prompt prompt) {
        return findsPrompts ? prompt.length() : config.blockSize();
    }

    private int findable(PrefixLookup lookup, int numTokens) {
        return findsPrompts ? Math.min(numTokens, lookup.prompt().length()) : numTokens;
    }

    /** Prompts with different salts have nothing in common. */
    private static int root(Prompt prompt) {
        return -prompt.cacheSalt().length();
    }

    private static List<Integer> tokens(PrefixLookup lookup, int from, int to) {
        var prompt = lookup.prompt();
        var tokens = new ArrayList<Integer>();
        for (int i = from; i < to; i++) {
            boolean isPrompt = i < prompt.length();
            tokens.add(isPrompt ? prompt.tokens().tokenAt(i) : lookup.output().tokenAt(i - prompt.length()));
        }
        return tokens;
    }
}
