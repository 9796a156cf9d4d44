package understudy.latency.kind;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Supplier;
import understudy.latency.ApiDelay;
import understudy.latency.HostOverhead;
import understudy.latency.KernelTables;
import understudy.latency.LatencyModel;
import understudy.latency.LinearLatency;
import understudy.latency.LlmSpec;
import understudy.latency.ProfileLatency;
import understudy.latency.ProfiledLatency;
import understudy.latency.RooflineLatency;
import understudy.latency.StepExecution;
import understudy.latency.tables.KernelDatabase;
import understudy.latency.tables.KernelDatabaseException;
import understudy.latency.tables.MoeBackend;
import understudy.latency.tables.Mxfp4Activations;
import understudy.latency.tables.Placement;
import understudy.latency.tables.TableLatency;
import understudy.settings.Section;

/**
 * The section {@code latency}.
 *
 * @param kind source of the times of steps
 * @param model how long a step takes from the first stage to the last, without jitter
 * @param pipeline the same stage by stage
 * @param apiDelay from the arrival of a request to its entry into the waiting queue
 * @param jitter standard deviation of the logarithm of a step's time
 * @param warnings warnings for the user, a line each
 */
public record LatencySettings(
        Kind kind, LatencyModel model, Pipeline pipeline, ApiDelay apiDelay, double jitter, List<String> warnings) {
    private static final String ENGINE = "engine";
    private static final String VERSION = "(\\d+(\\.\\w+)*)?";
    private static final String TABLES = "tables";
    private static final double NANOS_PER_MICRO = 1e3;
    private static final double DEFAULT_NANOS_PER_PROMPT_TOKEN = 5e3;
    private static final String PER_PROMPT_TOKEN = "api-delay-per-prompt-token";
    private static final List<String> LINEAR_TERMS = List.of("per-step", "per-token", "per-decode-seq", "per-kv-token");

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
     * @param execution returns how the engine runs its steps
     * @param kernelFiles reads the files of kernel times that {@code latency.profiled} names
     */
    public static LatencySettings read(
            Section latency,
            Device device,
            Supplier<StepExecution> execution,
            Function<Section, KernelTables> kernelFiles) {
        var kind = latency.choice("model", Kind.class);
        var pipeline = switch (kind) {
            case LINEAR -> Pipeline.shared(linear(latency.section("linear")), device.numStages());
            case PROFILE -> Pipeline.shared(profile(latency, device), device.numStages());
            case ROOFLINE ->
                Pipeline.of(llm -> roofline(latency, device, llm, host(latency, execution.get())), latency, device);
            case PROFILED ->
                Pipeline.of(
                        llm -> profiled(latency, device, llm, host(latency, execution.get()), kernelFiles),
                        latency,
                        device);
        };
        return new LatencySettings(
                kind,
                pipeline.whole(),
                pipeline,
                apiDelay(latency, kind, execution),
                latency.number("jitter", 0, 1),
                unread(latency, kind));
    }

    /** Returns warnings for the user: terms that were set, and that another model does not read. */
    private static List<String> unread(Section latency, Kind kind) {
        var linear = latency.section("linear");
        return kind == Kind.LINEAR || LINEAR_TERMS.stream().allMatch(linear::isDefault)
                ? List.of()
                : List.of("latency.linear is set, but latency.model is "
                        + kind.name().toLowerCase(Locale.ROOT) + "; set latency.model = linear");
    }

    /** Returns the delay; a device that is made up, or measured as a whole, has none for each token of its own. */
    private static ApiDelay apiDelay(Section latency, Kind kind, Supplier<StepExecution> execution) {
        boolean isOfKernels = kind == Kind.ROOFLINE || kind == Kind.PROFILED;
        double perToken = latency.text(PER_PROMPT_TOKEN).equals("auto")
                ? isOfKernels ? DEFAULT_NANOS_PER_PROMPT_TOKEN : 0
                : latency.nanos(PER_PROMPT_TOKEN);
        var delay = new ApiDelay(Math.round(latency.nanos("api-delay")), perToken);
        boolean isOneByOne = perToken > 0 && !execution.get().kernels().equals(StepExecution.VLLM.kernels());
        return isOneByOne ? delay.oneByOne() : delay;
    }

    private static LatencyModel linear(Section linear) {
        return new LinearLatency(
                linear.nanos("per-step"),
                linear.nanos("per-token"),
                linear.nanos("per-decode-seq"),
                linear.nanos("per-kv-token"));
    }

    /** A GPU's file may bring the five numbers along, as {@code calibrate} writes them. */
    private static LatencyModel profile(Section latency, Device device) {
        var gpu = device.gpu();
        return gpu == null || gpu.profile().equals(ProfileLatency.NONE)
                ? ProfileLatency.read(latency.section("profile"))
                : gpu.profile();
    }

    private static LatencyModel roofline(Section latency, Device device, LlmSpec llm, HostOverhead host) {
        return new RooflineLatency(
                llm, device.gpu(latency).spec(), device.parallelism(), device.bytesPerKvElement(), host);
    }

    private static LatencyModel profiled(
            Section latency,
            Device device,
            LlmSpec llm,
            HostOverhead host,
            Function<Section, KernelTables> kernelFiles) {
        var profiled = latency.section("profiled");
        String path = profiled.text(TABLES);
        if (!path.isEmpty() && Files.isDirectory(Path.of(path))) {
            return database(latency, profiled, device, llm, host);
        }
        var parallelism = device.parallelism();
        boolean isUnknown = parallelism.hasOneGpu() && device.gpu() == null;
        var gpu = isUnknown ? null : device.gpu(latency).spec();
        var tables = kernelFiles.apply(profiled);
        if (llm.linearAttention() != null) {
            throw latency.unusable("llm", "but latency.profiled.tables has no times of linear attention");
        }
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
            Section latency, Section profiled, Device device, LlmSpec llm, HostOverhead host) {
        var gpu = device.gpu(latency);
        var placement = new Placement(
                llm,
                gpu.spec(),
                device.parallelism(),
                device.bytesPerKvElement(),
                profiled.choice("mxfp4-activations", Mxfp4Activations.class),
                latency.choice("moe-backend", MoeBackend.class));
        var versions = new TreeMap<String, String>();
        var section = profiled.section("versions");
        section.keys().forEach(table -> versions.put(table, section.text(table)));
        if (!section.text(ENGINE).matches(VERSION)) {
            throw section.unusable(ENGINE, "but a version is such as 0.16.0");
        }
        var database = new KernelDatabase(Path.of(profiled.text(TABLES)));
        try {
            return new TableLatency(database, gpu.kernelTables(), versions, placement, host);
        } catch (KernelDatabaseException e) {
            throw profiled.unusable(TABLES, "but " + e.getMessage());
        }
    }

    private static HostOverhead host(Section latency, StepExecution execution) {
        return new HostOverhead(
                latency.nanos("host-per-step") / NANOS_PER_MICRO + execution.hostMicrosPerStep(),
                latency.nanos("host-per-seq") / NANOS_PER_MICRO,
                execution);
    }
}
