package understudy.engine.sglang;

import io.soabase.recordbuilder.core.RecordBuilder;
import understudy.kvcache.radix.RadixLookup;

/**
 * Request as it was when a question was asked.
 *
 * @param lookup its content for the memory
 * @param numTokens tokens that are known
 * @param numFillTokens tokens that it had when it was tried last
 * @param numPrefixTokens tokens that were found at the last look
 * @param wasPreempted whether it has lost its places before
 */
@RecordBuilder
record RequestView(
        RadixLookup lookup,
        int numTokens,
        int numOutputTokens,
        int maxNewTokens,
        boolean ignoresEos,
        long priority,
        long entry,
        boolean isFinished,
        int numFillTokens,
        int numPrefixTokens,
        boolean wasPreempted) {

    static RequestView of(SglangRequest request) {
        return new RequestView(
                request.lookup,
                request.numTokens(),
                request.numOutputTokens,
                request.maxNewTokens,
                request.ignoresEos(),
                request.priority,
                request.entry,
                request.isFinished,
                request.numFillTokens,
                request.numPrefixTokens,
                request.numPreemptions() > 0);
    }

    String adapter() {
        return lookup.prompt().loraName();
    }

    int handle() {
        return lookup.handle();
    }

    /** Returns how many tokens it is expected to need still. */
    double offset(SglangConfig config, double newTokenRatio) {
        return config.offset(maxNewTokens, numOutputTokens, newTokenRatio);
    }
}
