package understudy.app;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import understudy.app.console.BreakOff;
import understudy.app.console.Console;
import understudy.app.console.StatusLine;
import understudy.bench.BenchTarget;
import understudy.bench.ServerLink;
import understudy.bench.ServerProbes;
import understudy.bench.TargetOptions;
import understudy.fidelity.ServerCalibration;
import understudy.fidelity.probe.Probing;
import understudy.runtime.EpochClock;
import understudy.settings.ScenarioException;

/** Options of a calibration that probes a live server. */
final class ServerProbeOptions {
    private static final int USUAL_MAX_MODEL_LEN = 8192;
    private static final int LEAST_MODEL_LEN = 512;

    @Option(
            names = "--url",
            paramLabel = "URL",
            description = "A live server to probe instead, such as http://localhost:8000.")
    private @Nullable String url;

    @Option(names = "--model", paramLabel = "NAME", description = "With --url: model; default the server's first one.")
    private @Nullable String model;

    @Option(
            names = "--header",
            paramLabel = "KEY=VALUE",
            description = "With --url: header of all requests, repeatable. OPENAI_API_KEY gives a key.")
    private Map<String, String> headers = new LinkedHashMap<>();

    @Option(
            names = "--max-requests",
            paramLabel = "N",
            description = "With --url: most requests, default ${DEFAULT-VALUE}.")
    private int maxRequests = 300;

    @Option(
            names = "--max-seconds",
            paramLabel = "N",
            description = "With --url: most seconds, default ${DEFAULT-VALUE}.")
    private double maxSeconds = 120;

    @Option(
            names = "--seed",
            paramLabel = "N",
            description = "With --url: seed of the prompts' words; default the time, so that no prompt is cached.")
    private @Nullable Long seed;

    /** Returns whether a server is to be probed. */
    boolean isGiven() {
        return url != null;
    }

    /**
     * Probes the server and fits.
     *
     * @param gpu name for {@code latency.gpu}, or null
     * @return the fit; null if Ctrl-C came before
     */
    @Nullable ServerCalibration calibrate(@Nullable String gpu, Console console) throws InterruptedException {
        if (maxRequests < 1 || !(maxSeconds > 0)) {
            throw new ScenarioException(
                    "--max-requests " + maxRequests + " --max-seconds " + maxSeconds + ": both must be above 0");
        }
        var base = TargetOptions.base(String.valueOf(url));
        String key = System.getenv("OPENAI_API_KEY");
        if (key != null) {
            headers.putIfAbsent("Authorization", "Bearer " + key);
        }
        var served = ServerLink.model(base, headers, model);
        var target = new BenchTarget(
                base, "/v1/completions", served.name(), headers, false, true, JsonNodeFactory.instance.objectNode());
        var status = StatusLine.onStderr();
        var probes = new ServerProbes(
                target,
                maxSeconds,
                (numEnded, seconds) ->
                        status.draw(String.format(Locale.ROOT, "%d requests ended, %.0f s", numEnded, seconds)));
        var onInterrupt = new BreakOff(probes::stop);
        try {
            var probed = Probing.of(
                    probes,
                    new Probing.Settings(
                            maxModelLen(served),
                            !served.owner().equals("sglang"),
                            maxRequests,
                            seed == null ? EpochClock.seconds() : seed));
            status.clear();
            if (probes.isStopped()) {
                console.warn("broken off; nothing is written");
                return null;
            }
            // Behind the probes, when client and server are warm.
            double roundTripNanos = ServerLink.roundTripNanos(base, headers);
            return ServerCalibration.of(
                    probed, new ServerCalibration.Source(base + " (" + served.name() + ")", gpu, roundTripNanos));
        } finally {
            status.clear();
            onInterrupt.close();
        }
    }

    private static int maxModelLen(ServerLink.ServedModel served) {
        int length = served.maxModelLen() == 0 ? USUAL_MAX_MODEL_LEN : served.maxModelLen();
        if (length < LEAST_MODEL_LEN) {
            throw new ScenarioException("--url: the model takes " + length + " tokens, too few to probe; at least "
                    + LEAST_MODEL_LEN + " are needed");
        }
        return length;
    }
}
