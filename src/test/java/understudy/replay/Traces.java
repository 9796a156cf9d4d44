package understudy.replay;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** Traces for tests, in chunks with the ids interned as they come. */
final class Traces {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final int requestsPerChunk;
    private final List<TraceChunk> chunks = new ArrayList<>();
    private final Long2IntOpenHashMap dense = new Long2IntOpenHashMap();
    private final IntArrayList blocks = new IntArrayList();
    private final IntArrayList ends = new IntArrayList();
    private final IntArrayList promptTokens = new IntArrayList();

    private Traces(int requestsPerChunk) {
        this.requestsPerChunk = requestsPerChunk;
    }

    /** Reads JSON lines with {@code input_length} and {@code hash_ids}. */
    static List<TraceChunk> mooncake(Path file, int limit, int requestsPerChunk) {
        try (var lines = Files.lines(file)) {
            return of(lines.limit(limit).map(Traces::parse).toList(), requestsPerChunk);
        } catch (IOException e) {
            throw new AssertionError(file + " cannot be read", e);
        }
    }

    /** Takes requests with {@code input_length} and {@code hash_ids}. */
    static List<TraceChunk> of(Iterable<JsonNode> requests, int requestsPerChunk) {
        var traces = new Traces(requestsPerChunk);
        for (JsonNode request : requests) {
            var ids = IntStream.range(0, request.get("hash_ids").size())
                    .map(i -> request.get("hash_ids").get(i).intValue());
            traces.add(ids.toArray(), request.get("input_length").intValue());
        }
        return traces.finish();
    }

    /** Takes the blocks of each request; where blocks have more than one token, the last of a request is one short of full. */
    static List<TraceChunk> of(int[][] requests, int blockSize, int requestsPerChunk) {
        var traces = new Traces(requestsPerChunk);
        for (int[] request : requests) {
            traces.add(request, request.length * blockSize - (blockSize > 1 ? 1 : 0));
        }
        return traces.finish();
    }

    private static JsonNode parse(String line) {
        try {
            return JSON.readTree(line);
        } catch (IOException e) {
            throw new AssertionError(line, e);
        }
    }

    private void add(int[] ids, int length) {
        for (int id : ids) {
            int next = dense.size();
            dense.putIfAbsent(id, next);
            blocks.add(dense.get(id));
        }
        ends.add(blocks.size());
        promptTokens.add(length);
        if (ends.size() == requestsPerChunk) {
            flush();
        }
    }

    private List<TraceChunk> finish() {
        flush();
        return chunks;
    }

    private void flush() {
        int size = ends.size();
        chunks.add(new TraceChunk(
                size, blocks.toIntArray(), ends.toIntArray(), promptTokens.toIntArray(), new long[size]));
        blocks.clear();
        ends.clear();
        promptTokens.clear();
    }
}
