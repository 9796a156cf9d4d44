package understudy.scenario;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;
import understudy.latency.AllReduceTime;
import understudy.latency.HostOverhead;
import understudy.latency.LatencyModel;
import understudy.latency.LinearLatency;
import understudy.latency.ProfileLatency;
import understudy.latency.ProfiledLatency;
import understudy.latency.RooflineLatency;
import understudy.latency.tables.KernelDatabase;
import understudy.latency.tables.KernelDatabaseException;
import understudy.latency.tables.Placement;
import understudy.latency.tables.TableLatency;

/**
 * The section {@code latency}.
 *
 * @param kind where the times of steps come from
 * @param model how long a step takes, without jitter
 * @param apiDelayNanos from the arrival of a request to its entry into the waiting queue
 * @param jitter standard deviation of the logarithm of a step's time
 * @param deployment the model and the GPUs that it names
 */
public record LatencySettings(Kind kind, LatencyModel model, long apiDelayNanos, double jitter, Deployment deployment) {
    private static final String TABLES = "tables";
    private static final String EXPERT_PARALLEL = "enable-expert-parallel";
    private static final double NANOS_PER_MICRO = 1e3;
    private static final ProfileLatency NO_PROFILE = new ProfileLatency(0, 0, 0, 0, 0);

    /** Kind of a latency model, by its name in a scenario. */
    public enum Kind {
        LINEAR,
        PROFILE,
        ROOFLINE,
        PROFILED
    }

    /** Reads the section, and what {@code kv-cache} says about the hardware. */
    static LatencySettings read(Section latency, Section kvCache) {
        var deployment = Deployment.read(latency, kvCache);
        var kind = latency.choice("model", Kind.class);
        var model = switch (kind) {
            case LINEAR -> linear(latency.section("linear"));
            case PROFILE -> profile(latency, deployment);
            case ROOFLINE -> roofline(latency, deployment);
            case PROFILED -> profiled(latency, deployment);
        };
        return new LatencySettings(
                kind, model, Math.round(latency.nanos("api-delay")), latency.number("jitter", 0, 1), deployment);
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

    private static LatencyModel roofline(Section latency, Deployment deployment) {
        return new RooflineLatency(
                Deployment.llm(latency, deployment),
                Deployment.gpu(latency, deployment).spec(),
                deployment.tensorParallelSize(),
                deployment.bytesPerKvElement(),
                host(latency.section("roofline"), 0));
    }

    private static LatencyModel profiled(Section latency, Deployment deployment) {
        var profiled = latency.section("profiled");
        String path = profiled.text(TABLES);
        if (!path.isEmpty() && Files.isDirectory(Path.of(path))) {
            return database(latency, profiled, deployment);
        }
        latency.requireDefaults(List.of(EXPERT_PARALLEL), "which only tables of a directory know");
        var llm = Deployment.llm(latency, deployment);
        int tensorParallelSize = deployment.tensorParallelSize();
        var allReduce = tensorParallelSize == 1
                ? AllReduceTime.NONE
                : AllReduceTime.of(llm, Deployment.gpu(latency, deployment).spec(), tensorParallelSize);
        var tables = KernelFiles.read(profiled);
        if ((tables.experts() != null) != (llm.feedForward().numExperts() > 0)) {
            throw latency.unusable(
                    "llm",
                    "but latency.profiled.tables has times of "
                            + (tables.experts() == null
                                    ? "no experts, and the model has some"
                                    : "experts, and the model has none"));
        }
        return new ProfiledLatency(tables, llm, allReduce, host(profiled, 0));
    }

    /** Reads NVIDIA AIConfigurator's tables of the GPU. */
    private static LatencyModel database(Section latency, Section profiled, Deployment deployment) {
        var file = Deployment.gpu(latency, deployment);
        int tensorParallelSize = deployment.tensorParallelSize();
        var placement = new Placement(
                Deployment.llm(latency, deployment),
                file.spec(),
                tensorParallelSize,
                latency.bool(EXPERT_PARALLEL) ? tensorParallelSize : 1,
                deployment.bytesPerKvElement());
        var versions = new TreeMap<String, String>();
        var section = profiled.section("versions");
        section.config().root().keySet().forEach(table -> versions.put(table, section.text(table)));
        var database = new KernelDatabase(Path.of(profiled.text(TABLES)));
        try {
            return new TableLatency(
                    database,
                    file.kernelTables(),
                    versions,
                    placement,
                    host(profiled, TableLatency.HOST_MICROS_PER_SEQUENCE));
        } catch (KernelDatabaseException e) {
            throw profiled.unusable(TABLES, "but " + e.getMessage());
        }
    }

    /** Reads the host's work; {@code auto} is the number that belongs to the kernel times. */
    private static HostOverhead host(Section section, double autoMicros) {
        boolean isAuto = section.text("host-per-seq").equals("auto");
        double perSequence = isAuto ? autoMicros : section.nanos("host-per-seq") / NANOS_PER_MICRO;
        return new HostOverhead(section.nanos("host-per-step") / NANOS_PER_MICRO, perSequence);
    }
}
