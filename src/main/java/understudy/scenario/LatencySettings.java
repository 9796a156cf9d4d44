package understudy.scenario;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;
import understudy.latency.ApiDelay;
import understudy.latency.HostOverhead;
import understudy.latency.LatencyModel;
import understudy.latency.LinearLatency;
import understudy.latency.LlmSpec;
import understudy.latency.ProfileLatency;
import understudy.latency.ProfiledLatency;
import understudy.latency.RooflineLatency;
import understudy.latency.tables.KernelDatabase;
import understudy.latency.tables.KernelDatabaseException;
import understudy.latency.tables.Placement;
import understudy.latency.tables.TableLatency;
import understudy.settings.Section;

/**
 * The section {@code latency}.
 *
 * @param kind where the times of steps come from
 * @param model how long a step takes from the first stage to the last, without jitter
 * @param pipeline the same stage by stage
 * @param apiDelay from the arrival of a request to its entry into the waiting queue
 * @param jitter standard deviation of the logarithm of a step's time
 * @param deployment the model and the GPUs that it names
 * @param warnings what the user should know, a line each
 */
public record LatencySettings(
        Kind kind,
        LatencyModel model,
        Pipeline pipeline,
        ApiDelay apiDelay,
        double jitter,
        Deployment deployment,
        List<String> warnings) {
    private static final String TABLES = "tables";
    private static final double NANOS_PER_MICRO = 1e3;
    private static final double DEFAULT_NANOS_PER_PROMPT_TOKEN = 5e3;
    private static final String PER_PROMPT_TOKEN = "api-delay-per-prompt-token";
    private static final List<String> LINEAR_TERMS = List.of("per-step", "per-token", "per-decode-seq", "per-kv-token");
    private static final ProfileLatency NO_PROFILE = new ProfileLatency(0, 0, 0, 0, 0);

    /** Kind of a latency model, by its name in a scenario. */
    public enum Kind {
        LINEAR,
        PROFILE,
        ROOFLINE,
        PROFILED
    }

    /**
     * Reads the section.
     *
     * @param kvCache for what it says about the hardware
     * @param engine for how it runs its steps
     */
    static LatencySettings read(Section latency, Section kvCache, Section engine) {
        var deployment = Deployment.read(latency, kvCache);
        var kind = latency.choice("model", Kind.class);
        var pipeline = switch (kind) {
            case LINEAR -> Pipeline.shared(linear(latency.section("linear")), deployment);
            case PROFILE -> Pipeline.shared(profile(latency, deployment), deployment);
            case ROOFLINE ->
                Pipeline.of(
                        llm -> roofline(latency, deployment, llm, host(latency, engine, deployment)),
                        latency,
                        deployment);
            case PROFILED ->
                Pipeline.of(
                        llm -> profiled(latency, deployment, llm, host(latency, engine, deployment)),
                        latency,
                        deployment);
        };
        return new LatencySettings(
                kind,
                pipeline.whole(),
                pipeline,
                apiDelay(latency, kind),
                latency.number("jitter", 0, 1),
                deployment,
                unread(latency, kind));
    }

    /** Returns what the user should know: terms that were set, and that another model does not read. */
    private static List<String> unread(Section latency, Kind kind) {
        var linear = latency.section("linear");
        return kind == Kind.LINEAR || LINEAR_TERMS.stream().allMatch(linear::isDefault)
                ? List.of()
                : List.of("latency.linear is set, but latency.model is "
                        + kind.name().toLowerCase(Locale.ROOT) + "; set latency.model = linear");
    }

    /** Returns the delay; a device that is made up, or measured as a whole, has none for each token of its own. */
    private static ApiDelay apiDelay(Section latency, Kind kind) {
        boolean isOfKernels = kind == Kind.ROOFLINE || kind == Kind.PROFILED;
        double perToken = latency.text(PER_PROMPT_TOKEN).equals("auto")
                ? isOfKernels ? DEFAULT_NANOS_PER_PROMPT_TOKEN : 0
                : latency.nanos(PER_PROMPT_TOKEN);
        return new ApiDelay(Math.round(latency.nanos("api-delay")), perToken);
    }

    private static LatencyModel linear(Section linear) {
        return new LinearLatency(
                linear.nanos("per-step"),
                linear.nanos("per-token"),
                linear.nanos("per-decode-seq"),
                linear.nanos("per-kv-token"));
    }

    /** A GPU's file may bring the five numbers along, as {@code calibrate} writes them. */
    private static LatencyModel profile(Section latency, Deployment deployment) {
        var gpu = deployment.gpu();
        return gpu == null || gpu.profile().equals(NO_PROFILE)
                ? GpuFile.profile(latency.section("profile"))
                : gpu.profile();
    }

    private static LatencyModel roofline(Section latency, Deployment deployment, LlmSpec llm, HostOverhead host) {
        return new RooflineLatency(
                llm,
                Deployment.gpu(latency, deployment).spec(),
                deployment.parallelism(),
                deployment.bytesPerKvElement(),
                host);
    }

    private static LatencyModel profiled(Section latency, Deployment deployment, LlmSpec llm, HostOverhead host) {
        var profiled = latency.section("profiled");
        String path = profiled.text(TABLES);
        if (!path.isEmpty() && Files.isDirectory(Path.of(path))) {
            return database(latency, profiled, deployment, llm, host);
        }
        var parallelism = deployment.parallelism();
        boolean isUnknown = parallelism.hasOneGpu() && deployment.gpu() == null;
        var gpu = isUnknown ? null : Deployment.gpu(latency, deployment).spec();
        var tables = KernelFiles.read(profiled);
        if ((tables.experts() != null) != (llm.feedForward().numExperts() > 0)) {
            throw latency.unusable(
                    "llm",
                    "but latency.profiled.tables has times of "
                            + (tables.experts() == null
                                    ? "no experts, and the model has some"
                                    : "experts, and the model has none"));
        }
        return new ProfiledLatency(tables, llm, parallelism, gpu, host);
    }

    /** Reads NVIDIA AIConfigurator's tables of the GPU. */
    private static LatencyModel database(
            Section latency, Section profiled, Deployment deployment, LlmSpec llm, HostOverhead host) {
        var file = Deployment.gpu(latency, deployment);
        var placement = new Placement(llm, file.spec(), deployment.parallelism(), deployment.bytesPerKvElement());
        var versions = new TreeMap<String, String>();
        var section = profiled.section("versions");
        section.config().root().keySet().forEach(table -> versions.put(table, section.text(table)));
        var database = new KernelDatabase(Path.of(profiled.text(TABLES)));
        try {
            return new TableLatency(database, file.kernelTables(), versions, placement, host);
        } catch (KernelDatabaseException e) {
            throw profiled.unusable(TABLES, "but " + e.getMessage());
        }
    }

    private static HostOverhead host(Section latency, Section engine, Deployment deployment) {
        var execution = EngineSettings.execution(engine, deployment);
        return new HostOverhead(
                latency.nanos("host-per-step") / NANOS_PER_MICRO + execution.hostMicrosPerStep(),
                latency.nanos("host-per-seq") / NANOS_PER_MICRO,
                execution);
    }
}
