package understudy.describe;

import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongArrays;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import understudy.replay.ReuseCounter;
import understudy.replay.SharingView;
import understudy.replay.TraceChunkBuilder;
import understudy.workload.trace.TraceRow;

/** Counts of a trace's blocks: how many come again, after how long, and the hits of an infinite cache. */
final class ContentCounts {
    private static final int CHUNK_ACCESSES = 1 << 15;
    private static final long NANOS_PER_MILLI = 1_000_000;

    private final TimeCourse course;
    private final TraceChunkBuilder chunk = new TraceChunkBuilder();
    private final ReuseCounter reuse = new ReuseCounter();
    private final LongArrayList arrivals = new LongArrayList();
    private final LongOpenHashSet known = new LongOpenHashSet();
    private long[] latestNanos = new long[0];
    private int numBlocks;
    private int blockTokens;
    private long numHitTokens;

    ContentCounts(TimeCourse course) {
        this.course = course;
    }

    void add(TraceRow row, long atNanos) {
        if (!row.blockIds().isEmpty()) {
            blockTokens = row.blockTokens();
        }
        countHits(row, atNanos);
        chunk.add(row.blockIds(), row.numPromptTokens(), atNanos / NANOS_PER_MILLI);
        arrivals.add(atNanos);
        if (chunk.numAccesses() >= CHUNK_ACCESSES || arrivals.size() >= CHUNK_ACCESSES) {
            take();
        }
    }

    /** An infinite cache has the blocks of earlier prompts, and those of their answers, if the trace names them. */
    private void countHits(TraceRow row, long atNanos) {
        int numHits = 0;
        while (numHits < row.blockIds().size() && known.contains(row.blockIds().getLong(numHits))) {
            numHits++;
        }
        long hitTokens = Math.min((long) numHits * row.blockTokens(), row.numPromptTokens());
        numHitTokens += hitTokens;
        course.add(TimeCourse.Sum.HIT_TOKENS, atNanos, hitTokens);
        known.addAll(row.blockIds());
        known.addAll(row.outputBlockIds());
    }

    private void take() {
        var next = chunk.build();
        reuse.accept(next);
        int at = 0;
        for (int request = 0; request < next.numRequests(); request++) {
            for (; at < next.ends()[request]; at++) {
                access(next.blocks()[at], arrivals.getLong(request));
            }
        }
        arrivals.clear();
    }

    /** A block that comes again was not accessed for the last time before. */
    private void access(int block, long atNanos) {
        if (block < numBlocks) {
            course.add(TimeCourse.Sum.LAST_USES, latestNanos[block], -1);
        } else {
            numBlocks = block + 1;
            latestNanos = LongArrays.grow(latestNanos, numBlocks);
            course.add(TimeCourse.Sum.FIRST_USES, atNanos, 1);
        }
        latestNanos[block] = atNanos;
        course.add(TimeCourse.Sum.LAST_USES, atNanos, 1);
    }

    /** Returns how blocks are used again; nothing may be added any more. */
    SharingView finish() {
        take();
        return reuse.finish();
    }

    /** Returns the tokens of a block; 0 if the trace says nothing about content. */
    int blockTokens() {
        return blockTokens;
    }

    long numHitTokens() {
        return numHitTokens;
    }
}
