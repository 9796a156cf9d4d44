package understudy.replay;

import java.io.Closeable;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.workload.files.TraceException;
import understudy.workload.trace.JsonTraceReader;
import understudy.workload.trace.TraceLines;

/**
 * Reads Mooncake traces, gzip'd or not, as one stream of block accesses: one file after the other, ids meaning the same
 * in all of them, timestamps as they are. Unlike {@link JsonTraceReader} it takes any block size, and wants each
 * line's number of ids to go with it.
 */
public final class BlockTraceReader implements Closeable {
    private static final int CHUNK_ACCESSES = 1 << 15;

    private final TraceFiles files;
    private final long limit;
    private final BlockSizeFit fit = new BlockSizeFit();
    private final TraceChunkBuilder chunk = new TraceChunkBuilder();
    private final List<Lengths> firstLines = new ArrayList<>();
    private int blockSize;
    private long numAccesses;

    /**
     * Opens traces.
     *
     * @param files at least one
     * @param blockSize prompt tokens that one hash id stands for, or 0 for what fits the first some ten thousand
     *     accesses
     * @param limit most requests to read, or 0 for all
     * @throws TraceException if a file is not there
     */
    public BlockTraceReader(List<Path> files, int blockSize, long limit) {
        this.files = new TraceFiles(files);
        this.blockSize = blockSize;
        this.limit = limit;
    }

    /**
     * Returns the next requests, some ten thousands of accesses, or null at the end.
     *
     * @throws TraceException if a line cannot be used, or a file has none
     */
    public @Nullable TraceChunk next() {
        while (chunk.numAccesses() < CHUNK_ACCESSES && !isAtLimit()) {
            var line = files.next();
            if (line == null) {
                break;
            }
            take(line);
        }
        if (chunk.isEmpty()) {
            return null;
        }
        if (blockSize == 0) {
            deriveBlockSize();
        }
        return chunk.build();
    }

    /** Returns the prompt tokens per block; known once there is a chunk. */
    public int blockSize() {
        return blockSize;
    }

    /** Returns how many different blocks have been read. */
    public int numBlocks() {
        return chunk.numBlocks();
    }

    /** Returns the share of the files read so far, from 0 to 1; 0 as long as that is not known. */
    public double share() {
        return files.share();
    }

    @Override
    public void close() {
        files.close();
    }

    private boolean isAtLimit() {
        return limit > 0 && chunk.numRequests() >= limit;
    }

    private void take(TraceLines line) {
        int promptTokens = line.inputLength();
        line.outputLength(); // of no meaning here, but a trace without is not one that can be run
        long atMillis = Math.round(line.timestampMillis());
        var hashIds = line.hashIds();
        if (blockSize == 0) {
            blockSize = line.blockSize();
        }
        check(line, promptTokens, hashIds.size());
        numAccesses += hashIds.size();
        if (numAccesses > Replayer.MAX_ACCESSES) {
            throw line.problem("the trace has more than " + Replayer.MAX_ACCESSES
                    + " block accesses up to here; --limit reads fewer requests");
        }
        chunk.add(hashIds, promptTokens, atMillis);
    }

    private void check(TraceLines line, int promptTokens, int numIds) {
        fit.narrow(promptTokens, numIds);
        if (blockSize == 0) {
            firstLines.add(new Lengths(line.file(), line.line(), promptTokens, numIds));
        } else if (!BlockSizeFit.fits(blockSize, promptTokens, numIds)) {
            throw misfit(new Lengths(line.file(), line.line(), promptTokens, numIds));
        }
    }

    /** Most lines decide, so that one that is wrong is found out and not taken for the measure of the others. */
    private void deriveBlockSize() {
        long numUsual =
                firstLines.stream().filter(line -> line.fit(BlockSizeFit.USUAL)).count();
        blockSize = 2 * numUsual > firstLines.size()
                ? BlockSizeFit.USUAL
                : fit.likeliest().orElseThrow(this::unclear);
        firstLines.stream().filter(line -> !line.fit(blockSize)).findFirst().ifPresent(line -> {
            throw misfit(line);
        });
        firstLines.clear();
    }

    private TraceException unclear() {
        return new TraceException(
                firstLines.get(0).file,
                "block sizes of " + fit + " tokens go with the lengths of the prompts; say which by --block-size");
    }

    private TraceException misfit(Lengths line) {
        int numFull = line.promptTokens / blockSize;
        String allowed = line.promptTokens % blockSize == 0 ? "" + numFull : numFull + " or " + (numFull + 1);
        String problem = "input_length is " + line.promptTokens + ", which is " + allowed + " blocks of " + blockSize
                + " tokens, but hash_ids has " + line.numIds;
        return new TraceException(line.file, line.number, problem + betterBlockSize());
    }

    /**
     * Reads on to find out whether it is the block size that is wrong, or the line alone; says so if it is the former.
     */
    private String betterBlockSize() {
        try {
            long numLines = chunk.numRequests() + 1L;
            for (var line = files.next(); line != null && (limit == 0 || numLines < limit); line = files.next()) {
                fit.narrow(line.inputLength(), line.hashIds().size());
                numLines++;
            }
        } catch (TraceException e) {
            // One problem at a time: what could be read says enough about the block size.
        }
        return fit.isContradictory() ? "" : "; the trace goes with a block size of " + fit;
    }

    /** Lengths on a line that tell the block size, and the place of the line. */
    private record Lengths(String file, long number, int promptTokens, int numIds) {
        boolean fit(int blockSize) {
            return BlockSizeFit.fits(blockSize, promptTokens, numIds);
        }
    }
}
