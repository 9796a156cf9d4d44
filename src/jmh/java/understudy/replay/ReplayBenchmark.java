package understudy.replay;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * How many block accesses one core replays, prefix hits, hit tokens and the creation of the cache included, in a cache of
 * 10,000 blocks; in millions per second. The trace is Mooncake's conversation trace, or a made-up one of the same size where
 * that is not at hand, which is said on the console.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@OperationsPerInvocation(ReplayBenchmark.ACCESSES)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class ReplayBenchmark {
    /** Block accesses of the conversation trace. */
    static final int ACCESSES = 288_500;

    private static final Path CONVERSATION =
            Path.of(System.getProperty("understudy.data", "../shared/data"), "traces/conversation_trace.jsonl");
    private static final int CAPACITY = 10_000;
    private static final int BLOCK_SIZE = 512;

    /** Any policy's name will do. */
    @Param({"lru", "s3fifo"})
    private String policy;

    /** Whether the same process has replayed under all other policies before, as it does for a table of policies. */
    @Param({"false", "true"})
    private boolean afterOthers;

    private List<TraceChunk> chunks;
    private NextUse nextUse;

    /** Reads the trace. */
    @Setup
    public void load() {
        chunks = Files.exists(CONVERSATION)
                ? Traces.mooncake(CONVERSATION, Integer.MAX_VALUE, Integer.MAX_VALUE)
                : madeUp();
        nextUse = NextUse.of(chunks);
        int accesses = chunks.stream().mapToInt(chunk -> chunk.blocks().length).sum();
        if (accesses != ACCESSES) {
            throw new IllegalStateException("the trace has " + accesses + " accesses");
        }
        for (int round = 0; afterOthers && round < 50; round++) {
            Arrays.stream(ReplayPolicy.values()).forEach(this::replay);
        }
    }

    /** Replays the trace. */
    @Benchmark
    public ReplayResult replay() {
        return replay(ReplayPolicy.of(policy));
    }

    private ReplayResult replay(ReplayPolicy anyPolicy) {
        var replayer = Replayer.of(ReplaySettings.of(anyPolicy, CAPACITY, BLOCK_SIZE), false, nextUse);
        for (TraceChunk chunk : chunks) {
            replayer.accept(chunk);
        }
        return replayer.finish();
    }

    /** Sessions of growing prompts, some given up and begun anew in every round: 25 blocks per request. */
    private static List<TraceChunk> madeUp() {
        System.out.println("# there is no " + CONVERSATION + ", the trace is made up");
        var random = new SplittableRandom(1);
        var sessions = new int[1_000][];
        Arrays.setAll(sessions, i -> new int[0]);
        var requests = new int[ACCESSES / 25][];
        int numBlocks = 0;
        for (int i = 0; i < requests.length; i++) {
            int session = random.nextInt(sessions.length);
            int kept = random.nextInt(3) == 0 ? Math.min(20, sessions[session].length) : 0;
            requests[i] = Arrays.copyOf(sessions[session], 25);
            for (int at = kept; at < 25; at++) {
                requests[i][at] = numBlocks++;
            }
            sessions[session] = requests[i];
        }
        return Traces.of(requests, BLOCK_SIZE, Integer.MAX_VALUE);
    }
}
