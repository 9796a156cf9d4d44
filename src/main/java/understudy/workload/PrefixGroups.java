package understudy.workload;

import org.apache.commons.rng.UniformRandomProvider;
import org.apache.commons.rng.sampling.PermutationSampler;
import understudy.prompt.SegmentedTokens;
import understudy.prompt.Segments;

/** Prefixes that the sessions of a group open with, and whole first prompts that come again. */
public final class PrefixGroups {
    private final Options options;
    private final WholeNumbers promptLengths;
    private final RequestRate rate;
    private final RandomStreams streams;
    private final UniformRandomProvider groups;
    private final UniformRandomProvider prompts;
    private final SegmentedTokens[] prefixes;
    private final int[] shuffledPrompts;
    private int ratePiece;
    private int numTurnsTaken;

    /**
     * Options of shared prefixes.
     *
     * @param count how many there are, or 0 for none
     * @param lengths tokens of one
     * @param promptsPerGroup how many texts the sessions of a group open with, or 0 for one of each session's own; 0 if
     *     there are no shared prefixes
     * @param inTurn whether all prompts of all groups take turns, in a shuffled order that begins anew when the rate of
     *     arrivals changes; else each session draws one
     */
    public record Options(int count, WholeNumbers lengths, int promptsPerGroup, boolean inTurn) {
        /** No shared prefixes. */
        public static final Options NONE = new Options(0, WholeNumbers.fixed(1), 0, false);

        boolean sharesPrompts() {
            return promptsPerGroup > 0;
        }
    }

    PrefixGroups(Options options, WholeNumbers promptLengths, RequestRate rate, RandomStreams streams) {
        this.options = options;
        this.promptLengths = promptLengths;
        this.rate = rate;
        this.streams = streams;
        groups = streams.stream("prefix-groups");
        prompts = streams.stream("prompts-of-groups");
        prefixes = prefixes();
        shuffledPrompts =
                options.inTurn ? PermutationSampler.natural(options.count * options.promptsPerGroup) : new int[0];
        PermutationSampler.shuffle(streams.stream("order-of-prompts"), shuffledPrompts);
    }

    private SegmentedTokens[] prefixes() {
        var random = streams.stream("prefix-lengths");
        var all = new SegmentedTokens[options.count];
        for (int group = 0; group < all.length; group++) {
            all[group] = SegmentedTokens.EMPTY.append(Segments.ofSharedPrefix(group), options.lengths.sample(random));
        }
        return all;
    }

    /** Returns the opening of a session that begins then: nothing, a prefix, or a whole prompt. */
    SegmentedTokens opening(long arrivalNanos) {
        if (options.count == 0) {
            return SegmentedTokens.EMPTY;
        }
        if (options.inTurn) {
            return prompt(nextInTurn(arrivalNanos));
        }
        int group = groups.nextInt(options.count);
        return options.sharesPrompts()
                ? prompt((long) group * options.promptsPerGroup + prompts.nextInt(options.promptsPerGroup))
                : prefixes[group];
    }

    private int nextInTurn(long arrivalNanos) {
        int piece = rate.pieceAt(arrivalNanos);
        if (piece != ratePiece) {
            ratePiece = piece;
            numTurnsTaken = 0;
        }
        int prompt = shuffledPrompts[numTurnsTaken];
        numTurnsTaken = (numTurnsTaken + 1) % shuffledPrompts.length;
        return prompt;
    }

    private SegmentedTokens prompt(long textId) {
        int numTokens = promptLengths.sample(streams.stream("prompt-lengths-of-groups", textId));
        return prefixes[(int) (textId / options.promptsPerGroup)].append(Segments.ofSharedText(textId), numTokens);
    }
}
