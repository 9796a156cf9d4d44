package understudy.api.sglang;

import static org.apache.pekko.http.javadsl.server.Directives.complete;
import static org.apache.pekko.http.javadsl.server.Directives.concat;
import static org.apache.pekko.http.javadsl.server.Directives.get;
import static org.apache.pekko.http.javadsl.server.Directives.parameterMap;
import static org.apache.pekko.http.javadsl.server.Directives.path;
import static org.apache.pekko.http.javadsl.server.PathMatchers.segment;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.server.Route;
import understudy.api.call.ApiContext;
import understudy.api.http.ApiException;
import understudy.api.http.HttpBodies;
import understudy.api.http.Json;
import understudy.api.http.JsonBody;
import understudy.api.http.RoutePart;
import understudy.cluster.ClusterSpec;
import understudy.cluster.ReplicaSpec;
import understudy.routing.Role;
import understudy.runtime.EpochClock;

/**
 * Routes of SGLang that tell how busy engines are ({@code entrypoints/v1_loads.py}) and what their settings are. The replicas
 * behind the port of the cluster are told as ranks of data parallelism.
 */
public final class LoadRoutes implements RoutePart {
    private static final Set<String> SECTIONS =
            new TreeSet<>(Set.of("all", "core", "disagg", "lora", "memory", "queues", "spec"));

    /** Settings that an engine tells under names of vLLM. */
    private static final Set<String> NAMES_OF_VLLM =
            Set.of("block_size", "num_gpu_blocks", "enable_prefix_caching", "max_num_seqs", "max_num_batched_tokens");

    private final ApiContext api;
    private final ClusterSpec spec;
    private final SchedulerReports reports;
    private final OptionalInt replica;
    private final boolean isAlone;

    /**
     * Creates the routes.
     *
     * @param isAlone whether there is no other engine behind the port, so that what SGLang shares with vLLM is SGLang's
     */
    public LoadRoutes(
            ApiContext api, ClusterSpec spec, SchedulerReports reports, OptionalInt replica, boolean isAlone) {
        this.api = api;
        this.spec = spec;
        this.reports = reports;
        this.replica = replica;
        this.isAlone = isAlone;
    }

    @Override
    public Route route() {
        var own = concat(
                path(segment("v1").slash("loads"), () -> get(() -> parameterMap(query -> complete(loads(query))))),
                path("get_load", () -> get(() -> complete(HttpBodies.json(200, oldLoads())))),
                path("get_server_info", () -> get(() -> complete(serverInfo()))));
        return isAlone ? concat(own, path("server_info", () -> get(() -> complete(serverInfo())))) : own;
    }

    private HttpResponse loads(Map<String, String> query) {
        var include = sections(query.getOrDefault("include", "all"));
        boolean hasAll = include.contains("all");
        Long rank = new JsonBody(Json.object().put("dp_rank", query.get("dp_rank"))).integer("dp_rank");
        long now = EpochClock.seconds();
        var answer = Json.object().put("timestamp", Instant.ofEpochSecond(now).toString());
        answer.put("num_accelerators", api.settings().surface().numWorkers());
        var list = answer.putArray("loads");
        reports.read(replica, (index, report) -> {
            if (rank == null || rank == rankOf(index)) {
                var load = load(list.addObject(), index, report, now);
                if ((hasAll || include.contains("spec")) && report.specAcceptLength() > 0) {
                    load.putObject("speculative")
                            .put("accept_length", report.specAcceptLength())
                            .put("accept_rate", report.specAcceptRate());
                }
                var role = spec.replica(index).traits().role();
                if ((hasAll || include.contains("disagg")) && role != Role.BOTH) {
                    load.set("disaggregation", disaggregation(role, report));
                }
                if (hasAll || include.contains("queues")) {
                    load.putObject("queues")
                            .put("waiting", report.queue("num_queue_reqs"))
                            .put("grammar", 0)
                            .put("paused", 0)
                            .put("retracted", report.numRetracted());
                }
            }
        });
        return HttpBodies.json(200, answer);
    }

    /** Returns which parts of a load are wanted; SGLang names them all in its refusal. */
    private static Set<String> sections(String include) {
        var asked = new TreeSet<String>();
        Arrays.stream(include.split(",", -1)).map(String::strip).forEach(asked::add);
        var unknown = new TreeSet<>(asked);
        unknown.removeAll(SECTIONS);
        if (!unknown.isEmpty()) {
            throw ApiException.badRequest(
                    "Invalid include sections: " + unknown + ". Valid options: " + SECTIONS, "include");
        }
        return asked;
    }

    /** At its own port a replica is the only rank. */
    private int rankOf(int index) {
        return replica.isPresent() ? 0 : index;
    }

    private ObjectNode load(ObjectNode load, int index, SchedulerReport report, long atSeconds) {
        var behind = spec.replica(index);
        return load.put("dp_rank", rankOf(index))
                .put("timestamp", atSeconds)
                .put("num_running_reqs", report.numRunning())
                .put("num_waiting_reqs", report.numQueued())
                .put("num_used_tokens", report.numUsedTokens())
                .put("num_total_tokens", numTotalTokens(report))
                .put("max_total_num_tokens", maxTokens(behind))
                .put("token_usage", round(report.tokenUsage(), 4))
                .put("gen_throughput", round(report.genThroughput(), 2))
                .put("cache_hit_rate", round(report.cacheHitRate(), 4))
                .put("utilization", behind.traits().role() == Role.PREFILL ? -1.0 : 0.0)
                .put("max_running_requests", behind.engineTraits().maxNumSeqs());
    }

    /** As {@code get_load}: what requests hold, and what those that wait will need. */
    private static long numTotalTokens(SchedulerReport report) {
        return report.numUsedTokens() + report.numWaitingTokens();
    }

    /** As {@code DisaggregationMetrics} of {@code managers/io_struct.py}, without the last transfer. */
    private static ObjectNode disaggregation(Role role, SchedulerReport report) {
        return Json.object()
                .put("mode", mode(role))
                .put("prefill_bootstrap_queue_reqs", report.queue("prefill_bootstrap_queue"))
                .put("prefill_inflight_queue_reqs", report.queue("prefill_inflight_queue"))
                .put("decode_prealloc_queue_reqs", report.queue("decode_prealloc_queue"))
                .put("decode_transfer_queue_reqs", report.queue("decode_transfer_queue"))
                .put("decode_retracted_queue_reqs", report.queue("decode_retracted_queue"));
    }

    private static double round(double value, int numDigits) {
        double scale = Math.pow(10, numDigits);
        return Math.rint(value * scale) / scale;
    }

    private static long maxTokens(ReplicaSpec behind) {
        var memory = behind.kvCache();
        return (long) (memory.numGpuBlocks() - 1) * memory.blockSize();
    }

    private ArrayNode oldLoads() {
        var list = Json.array();
        reports.read(
                replica,
                (index, report) -> list.addObject()
                        .put("dp_rank", rankOf(index))
                        .put("num_reqs", report.numRunning() + report.numQueued())
                        .put("num_waiting_reqs", report.numQueued())
                        .put("num_tokens", numTotalTokens(report)));
        return list;
    }

    /** Returns settings of the first engine, under SGLang's names, and the state of all. */
    private HttpResponse serverInfo() {
        var settings = api.settings();
        var states = Json.array();
        var info = Json.object();
        reports.read(replica, (index, report) -> {
            var behind = spec.replica(index);
            if (states.isEmpty()) {
                addSettings(info, behind);
            }
            var state = states.addObject()
                    .put("last_gen_throughput", round(report.genThroughput(), 2))
                    .put(
                            "effective_max_running_requests_per_dp",
                            behind.engineTraits().maxNumSeqs());
            if (report.specAcceptLength() > 0) {
                state.put("avg_spec_accept_length", report.specAcceptLength());
            }
        });
        info.put("model_path", settings.servedModel())
                .put("tokenizer_path", settings.servedModel())
                .put("served_model_name", settings.servedModel())
                .put("dp_size", states.size())
                .put("enable_metrics", settings.sglang().hasMetrics())
                .put("weight_version", "default")
                .put("status", "ready");
        info.set("internal_states", states);
        info.putObject("emulation").put("timed_as", settings.hardware());
        return HttpBodies.json(200, info);
    }

    private static void addSettings(ObjectNode info, ReplicaSpec behind) {
        for (String section : List.of("scheduler_config", "cache_config")) {
            var values = Json.read(Json.write(behind.engine().describe().getOrDefault(section, Map.of())));
            values.properties().forEach(setting -> {
                if (!NAMES_OF_VLLM.contains(setting.getKey())) {
                    info.set(setting.getKey(), setting.getValue());
                }
            });
        }
        info.put("context_length", behind.kvCache().maxModelLen())
                .put("max_total_num_tokens", maxTokens(behind))
                .put("disaggregation_mode", mode(behind.traits().role()));
    }

    private static String mode(Role role) {
        return switch (role) {
            case BOTH -> "null";
            case PREFILL -> "prefill";
            case DECODE -> "decode";
        };
    }
}
