package understudy.app.replay;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.replay.BlockTraceReader;
import understudy.replay.TraceChunk;

/**
 * A trace that one thread reads while others use what has been read. Every chunk is kept, since some users begin late;
 * what they see does not depend on when they look.
 */
public final class TraceFeed {
    private final BlockTraceReader reader;
    private final List<TraceChunk> chunks = new ArrayList<>();
    private boolean isComplete;
    private boolean isBroken;
    private int blockSize;
    private int numBlocks;
    private long numAccesses;
    private double share;

    public TraceFeed(BlockTraceReader reader) {
        this.reader = reader;
    }

    /** Reads the whole trace; to be called once. Whatever goes wrong is thrown here, and only here. */
    public void read() {
        try {
            var chunk = reader.next();
            while (chunk != null && !Thread.currentThread().isInterrupted()) {
                publish(chunk);
                chunk = reader.next();
            }
            end(chunk != null);
        } finally {
            end(true); // unless it has ended well
        }
    }

    private synchronized void publish(TraceChunk chunk) {
        chunks.add(chunk);
        blockSize = reader.blockSize();
        numBlocks = reader.numBlocks();
        numAccesses += chunk.blocks().length;
        share = reader.share();
        notifyAll();
    }

    private synchronized void end(boolean isBrokenOff) {
        if (!isComplete && !isBroken) {
            isBroken = isBrokenOff;
            isComplete = !isBrokenOff;
            share = isComplete ? 1 : share;
            notifyAll();
        }
    }

    /**
     * Waits for a chunk, and returns it, or null behind the last one.
     *
     * @throws IllegalStateException if there will never be one because reading has failed
     */
    public synchronized @Nullable TraceChunk chunk(int index) throws InterruptedException {
        while (index >= chunks.size() && !isComplete && !isBroken) {
            wait();
        }
        if (index < chunks.size()) {
            return chunks.get(index);
        }
        if (isBroken) {
            throw new IllegalStateException("the trace was not read to its end");
        }
        return null;
    }

    /** Waits for the first chunk, and returns the tokens per block. */
    public synchronized int blockSize() throws InterruptedException {
        var unused = chunk(0);
        return blockSize;
    }

    public synchronized List<TraceChunk> chunks() {
        return List.copyOf(chunks);
    }

    public synchronized int numBlocks() {
        return numBlocks;
    }

    /** Returns how many accesses there will be in all, which is an estimate until all is read. */
    public synchronized double expectedAccesses() {
        return share == 0 ? 0 : numAccesses / share;
    }

    public synchronized long numAccesses() {
        return numAccesses;
    }
}
