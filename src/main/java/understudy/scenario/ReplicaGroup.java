package understudy.scenario;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigValueFactory;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import understudy.cluster.ReplicaSpec;
import understudy.cluster.device.GpuModel;
import understudy.cluster.link.KvStoreSpec;
import understudy.cluster.lockstep.EarlierStages;
import understudy.cluster.memory.KvBlockManagerActor;
import understudy.engine.EngineFamily.KvUse;
import understudy.engine.EngineSpec;
import understudy.kvcache.KvCacheSpec;
import understudy.kvcache.connector.KvSource;
import understudy.latency.ApiDelay;
import understudy.latency.BatchShape;
import understudy.latency.LatencyModel;
import understudy.routing.PrefillEstimate;
import understudy.routing.ReplicaTraits;
import understudy.routing.Role;
import understudy.scaling.TokenAware;
import understudy.settings.Defaults;
import understudy.settings.KnownKeys;
import understudy.settings.ScenarioException;
import understudy.settings.Section;
import understudy.transfer.KvTransferSpec;
import understudy.workload.RandomStreams;

/**
 * Group of like replicas: an entry of {@code cluster.groups}, or all replicas where there is no such list.
 *
 * @param name empty where there is no list
 * @param numReplicas at least 1, or 0 for one that only grows by changes
 * @param engine settings of each replica's scheduler and memory
 * @param latency how long a step takes
 * @param role its part in the cluster
 * @param transfers how its KV is moved, or null if it never is
 * @param stores memories slower than its host's
 * @param ownWeight capacity in relation to others, above 0; empty if it follows from the latency
 */
public record ReplicaGroup(
        String name,
        int numReplicas,
        EngineSpec engine,
        LatencySettings latency,
        Role role,
        @Nullable KvTransferSpec transfers,
        List<KvStoreSpec> stores,
        OptionalDouble ownWeight) {
    /** What an entry of the list says besides sections of the scenario, and its defaults. */
    static final Config DEFAULTS = ConfigFactory.parseString("name = \"\", replicas = 1, role = both, weight = auto");

    private static final int MAX_REPLICAS = 100_000;
    private static final String GROUPS = "groups";
    private static final String REPLICAS = "replicas";
    private static final String KIND = "engine.kind";
    private static final String KV_CONNECTOR = "kv-cache.transfer.kv-connector";
    private static final List<String> SECTIONS = List.of("engine", "kv-cache", "latency");

    /** Reads the groups of a scenario, at least one, with at least one replica in all. */
    static List<ReplicaGroup> read(Section root, boolean recordsKvEvents) {
        var cluster = root.section("cluster");
        var entries = cluster.configs(GROUPS);
        if (entries.isEmpty()) {
            int numReplicas = cluster.wholeNumber(REPLICAS, 1, MAX_REPLICAS);
            return List.of(read("", numReplicas, root, Role.BOTH, false, OptionalDouble.empty(), recordsKvEvents));
        }
        cluster.requireDefaults(List.of(REPLICAS), "but each of cluster.groups says how many it has; leave it out");
        var groups = new ArrayList<ReplicaGroup>();
        var names = new HashSet<String>();
        boolean isDisaggregated = haveRoles(cluster);
        if (isDisaggregated) {
            requireOneEngine(root, entries);
        }
        for (int i = 0; i < entries.size(); i++) {
            groups.add(read(root, entries.get(i), "cluster.groups." + i, names, isDisaggregated, recordsKvEvents));
        }
        if (groups.stream().mapToInt(ReplicaGroup::numReplicas).sum() == 0) {
            throw cluster.unusable(GROUPS, "which have no replica");
        }
        return comparable(groups);
    }

    /** KV of one engine means nothing to another. */
    private static void requireOneEngine(Section root, List<? extends Config> entries) {
        var kinds = entries.stream()
                .map(entry ->
                        entry.withFallback(root.config().withOnlyPath(KIND)).getString(KIND))
                .distinct()
                .toList();
        if (kinds.size() > 1) {
            throw root.section("cluster")
                    .unusable(
                            GROUPS,
                            "of which those with the roles prefill and decode hand each other KV, and must have one"
                                    + " engine.kind, not " + String.join(" and ", kinds));
        }
    }

    /**
     * Returns the groups with memories that tell of equal blocks where they can: those of the first engine whose blocks are
     * what they are. So a prefix counts in its blocks on all replicas, whatever the pages of others are.
     */
    private static List<ReplicaGroup> comparable(List<ReplicaGroup> groups) {
        var first = groups.get(0).engine.kvCache().hasher();
        var hasher = groups.stream()
                .map(group -> group.engine.kvCache())
                .filter(memory -> !memory.tellsOfAnyBlocks())
                .findFirst()
                .map(KvCacheSpec::hasher)
                .orElse(first);
        return groups.stream()
                .map(group -> group.withEngine(group.engine.comparedBy(hasher)))
                .toList();
    }

    private ReplicaGroup withEngine(EngineSpec other) {
        return new ReplicaGroup(name, numReplicas, other, latency, role, transfers, stores, ownWeight);
    }

    private static ReplicaGroup read(
            Section root,
            Config entry,
            String path,
            Set<String> names,
            boolean isDisaggregated,
            boolean recordsKvEvents) {
        requireKeysOfGroup(path, entry);
        var group = new Section(entry.withFallback(DEFAULTS), path);
        String name = group.text("name");
        if (!name.matches("[a-z0-9]+(-[a-z0-9]+)*")) {
            throw group.unusable("name", "must be letters in lower case, digits and hyphens");
        }
        if (!names.add(name)) {
            throw group.unusable("name", "which another group has, too");
        }
        var weight = group.text("weight").equals("auto")
                ? OptionalDouble.empty()
                : OptionalDouble.of(group.positive("weight"));
        var merged = entry;
        for (String section : SECTIONS) {
            merged = merged.withFallback(root.config().withOnlyPath(section));
        }
        int numReplicas = group.wholeNumber(REPLICAS, 0, MAX_REPLICAS);
        var role = group.choice("role", Role.class);
        return read(name, numReplicas, new Section(merged, path), role, isDisaggregated, weight, recordsKvEvents);
    }

    /**
     * Returns whether some replicas only compute prompts.
     *
     * @throws ScenarioException if none does although others only answer, or if none answers
     */
    static boolean haveRoles(Section cluster) {
        var roles = cluster.configs(GROUPS).stream().map(ReplicaGroup::roleOf).toList();
        boolean isDisaggregated = roles.contains(Role.PREFILL);
        if (isDisaggregated != roles.contains(Role.DECODE) && !roles.contains(Role.BOTH)) {
            throw cluster.unusable(
                    GROUPS, "of which one must answer, with the role decode or both, and one compute prompts");
        }
        if (!isDisaggregated && roles.contains(Role.DECODE)) {
            throw cluster.unusable(GROUPS, "of which none has the role prefill");
        }
        return isDisaggregated;
    }

    private static Role roleOf(Config entry) {
        var group = new Section(entry.withFallback(DEFAULTS), "cluster.groups");
        return group.choice("role", Role.class);
    }

    private static void requireKeysOfGroup(String path, Config entry) {
        for (var part : entry.root().entrySet()) {
            if (!SECTIONS.contains(part.getKey()) && !DEFAULTS.hasPath(part.getKey())) {
                throw new ScenarioException(
                        part.getValue().origin(),
                        "unknown key " + path + "." + part.getKey()
                                + "; a group has name, replicas, role, weight, and sections engine, kv-cache, latency");
            }
        }
        if (entry.hasPath(KV_CONNECTOR)) {
            throw new ScenarioException(
                    entry.getValue(KV_CONNECTOR).origin(), path + "." + KV_CONNECTOR + " is the same for all groups");
        }
        knownKeys().check(path, entry);
    }

    private static KnownKeys knownKeys() {
        return new KnownKeys(
                DEFAULTS.withFallback(Defaults.CONFIG.withOnlyPath("engine"))
                        .withFallback(Defaults.CONFIG.withOnlyPath("kv-cache"))
                        .withFallback(Defaults.CONFIG.withOnlyPath("latency")),
                key -> EngineSettings.isOfAnotherFamily(key));
    }

    private static ReplicaGroup read(
            String name,
            int numReplicas,
            Section settings,
            Role role,
            boolean isDisaggregated,
            OptionalDouble weight,
            boolean recordsKvEvents) {
        var kvCache = settings.section("kv-cache");
        var latency = LatencySettings.read(settings.section("latency"), kvCache, settings.section("engine"));
        int lockstepSize = latency.deployment().lockstepSize();
        if (numReplicas % lockstepSize != 0) {
            throw settings.section("latency")
                    .unusable(
                            "data-parallel-size",
                            "but the " + numReplicas + " replicas" + (name.isEmpty() ? "" : " of " + name)
                                    + " are the ranks of such groups: a multiple of it");
        }
        boolean hasNixl = isDisaggregated || KvTransferSettings.reachesOutside(kvCache.section("transfer"));
        var engine = EngineSettings.read(
                settings.section("engine"),
                kvCache,
                latency.deployment(),
                new KvUse(recordsKvEvents, hasNixl || KvTransferSettings.hasTiers(kvCache)));
        var transfers = KvTransferSettings.read(kvCache, engine, latency.deployment(), hasNixl);
        var connected = transfers.isEmpty()
                ? engine
                : engine.withConnector(transfers.get().connector());
        return new ReplicaGroup(
                name,
                numReplicas,
                connected,
                latency,
                role,
                transfers.map(KvTransferSettings::transfers).orElse(null),
                transfers.map(KvTransferSettings::stores).orElse(List.of()),
                weight);
    }

    /** Returns the model and the GPUs in words. */
    String hardware() {
        return latency.deployment().words();
    }

    /** Returns what follows from the settings, a line each, with the group's name before it if it has one. */
    List<String> reasons() {
        String prefix = name.isEmpty() ? "" : name + ": ";
        return Stream.concat(latency.deployment().reasons(engine).stream(), latency.model().sources().stream())
                .map(line -> prefix + line)
                .toList();
    }

    /** Returns what the user should know before believing the results, a line each. */
    List<String> warnings() {
        var lines = new ArrayList<>(latency.warnings());
        lines.addAll(latency.model()
                .warnings(
                        engine.traits().maxNumBatchedTokens(),
                        engine.traits().maxNumSeqs(),
                        engine.kvCache().maxModelLen()));
        return lines;
    }

    /** Returns a scenario with the values of its groups in place of words such as {@code auto}. */
    static Config resolve(List<ReplicaGroup> groups, Config config) {
        if (groups.get(0).name.isEmpty()) {
            return EngineSettings.resolve(groups.get(0).engine, config);
        }
        var entries = new Section(config, "").section("cluster").configs(GROUPS);
        var resolved = new ArrayList<Object>();
        for (int i = 0; i < groups.size(); i++) {
            resolved.add(EngineSettings.resolve(groups.get(i).engine, entries.get(i))
                    .root()
                    .unwrapped());
        }
        return config.withValue("cluster." + GROUPS, ConfigValueFactory.fromIterable(resolved));
    }

    /** Returns whether its replicas keep KV in their hosts' memories. */
    boolean hasHostMemory() {
        var connector = engine.kvCache().connector();
        return connector != null && connector.sources().contains(KvSource.HOST);
    }

    /** Returns prompt tokens per second, computed in full batches on an idle replica. */
    double prefillTokensPerSecond() {
        return TokenAware.prefillTokensPerSecond(
                latency.model(), engine.traits().maxNumBatchedTokens(), ApiDelay.NONE);
    }

    /**
     * Returns how each replica is built.
     *
     * @param unit prompt tokens per second for a weight of 1
     */
    ReplicaSpec spec(double unit, RandomStreams streams, boolean keepsTokenTimes) {
        var earlier = latency.pipeline().earlier();
        var device = new GpuModel(
                engine.latency(latency.pipeline().last()),
                latency.jitter(),
                engine.drafts(),
                streams,
                latency.deployment().lockstepSize(),
                earlier.count() == 0 ? earlier : new EarlierStages(earlier.count(), engine.latency(earlier.latency())));
        double weight = ownWeight.orElseGet(() -> prefillTokensPerSecond() / unit);
        var traits = new ReplicaTraits(
                name,
                weight,
                engine.kvCache().numGpuBlocks(),
                new PrefillSteps(latency.model(), engine.traits().maxPrefillChunkTokens()),
                role);
        return ReplicaSpec.of(engine, KvBlockManagerActor::create, device)
                .withApiDelay(latency.apiDelay())
                .withKeepsTokenTimes(keepsTokenTimes)
                .withTraits(traits)
                .withTransfers(transfers)
                .withStores(stores);
    }

    /**
     * Prefill time of a prompt as the sum of its steps, each of them alone in its batch.
     *
     * @param latency how long a step takes
     * @param maxChunkTokens most tokens of a prompt in one step, at least 1
     */
    record PrefillSteps(LatencyModel latency, int maxChunkTokens) implements PrefillEstimate {

        @Override
        public double nanos(int numTokens, int numCachedTokens) {
            var batch = new BatchShape.Builder();
            double sum = 0;
            int chunk;
            for (int computed = numCachedTokens; computed < numTokens; computed += chunk) {
                chunk = Math.min(maxChunkTokens, numTokens - computed);
                batch.clear();
                batch.add(chunk, computed, computed + chunk == numTokens);
                sum += latency.stepNanos(batch.build());
            }
            return sum;
        }
    }
}
