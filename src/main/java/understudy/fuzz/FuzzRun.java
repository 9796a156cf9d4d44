package understudy.fuzz;

import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import understudy.cluster.ClusterSpec;
import understudy.host.Emulation;
import understudy.kvcache.KvOutOfMemoryException;
import understudy.report.Invariants;
import understudy.report.RequestsCsv;
import understudy.report.RunRecord;
import understudy.report.RunReport;
import understudy.report.RunResult;

/** One run, as fast as possible, in a thread of its own from its creation on. */
final class FuzzRun implements AutoCloseable {
    private static final long MAX_SECONDS = 30;

    private final Emulation emulation = new Emulation();

    FuzzRun(ClusterSpec spec) {
        emulation.start(spec, Double.POSITIVE_INFINITY);
    }

    /** Waits for the end, and returns all that the run has to say but for what depends on the machine. */
    String report() throws InterruptedException {
        var run = end();
        for (String broken : Invariants.check(run)) {
            String law = broken.substring(0, broken.indexOf(':'));
            throw new BrokenLawException(law, broken.substring(law.length() + 2));
        }
        return RunResult.of(RunReport.of(run), run.requests()).json() + requests(run);
    }

    private RunRecord end() throws InterruptedException {
        try {
            return emulation.await(MAX_SECONDS * 1000).run();
        } catch (TimeoutException e) {
            throw new BrokenLawException(
                    "stalled",
                    "no end after " + MAX_SECONDS + " s; " + emulation.numEnded() + " requests have ended, and "
                            + emulation.virtualSeconds() + " s of virtual time are over");
        } catch (ExecutionException e) {
            throw e.getCause() instanceof KvOutOfMemoryException death ? death : new IllegalStateException(e);
        }
    }

    private static String requests(RunRecord run) {
        var text = new StringWriter();
        try {
            RequestsCsv.write(run.requests(), text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return text.toString();
    }

    @Override
    public void close() {
        emulation.close();
    }
}
