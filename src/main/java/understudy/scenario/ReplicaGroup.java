package understudy.scenario;

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
import understudy.engine.family.EngineSettings;
import understudy.kvcache.KvCacheSpec;
import understudy.kvcache.connector.KvSource;
import understudy.kvcache.tier.TierSettings;
import understudy.latency.ApiDelay;
import understudy.latency.BatchShape;
import understudy.latency.LatencyModel;
import understudy.latency.kind.LatencySettings;
import understudy.routing.PrefillEstimate;
import understudy.routing.ReplicaTraits;
import understudy.routing.Role;
import understudy.scaling.TokenAware;
import understudy.settings.Defaults;
import understudy.settings.KnownKeys;
import understudy.settings.ScenarioException;
import understudy.settings.Section;
import understudy.transfer.KvTransferSpec;
import understudy.transfer.TransferSettings;
import understudy.workload.RandomStreams;

/**
 * Group of like replicas: an entry of {@code cluster.groups}, or all replicas where there is no such list.
 *
 * @param name empty where there is no list
 * @param numReplicas at least 1, or 0 for one that only grows by changes
 * @param engine settings of each replica's scheduler and memory
 * @param deployment the model and the GPUs
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
        Deployment deployment,
        LatencySettings latency,
        Role role,
        @Nullable KvTransferSpec transfers,
        List<KvStoreSpec> stores,
        OptionalDouble ownWeight) {
    /** Defaults of the keys that an entry of the list has besides sections of the scenario. */
    static final Section DEFAULTS = Section.of("name = \"\", replicas = 1, role = both, weight = auto");

    private static final int MAX_REPLICAS = 100_000;
    private static final String GROUPS = "groups";
    private static final String REPLICAS = "replicas";
    private static final String KIND = "engine.kind";
    private static final String KV_CONNECTOR = "kv-cache.transfer.kv-connector";
    private static final List<String> SECTIONS = List.of("engine", "kv-cache", "latency");

    /** Reads the groups of a scenario, at least one, with at least one replica in all. */
    static List<ReplicaGroup> read(Section root, boolean recordsKvEvents) {
        var cluster = root.section("cluster");
        var entries = cluster.sections(GROUPS);
        if (entries.isEmpty()) {
            int numReplicas = cluster.wholeNumber(REPLICAS, 1, MAX_REPLICAS);
            return List.of(read("", numReplicas, root, Role.BOTH, false, OptionalDouble.empty(), recordsKvEvents));
        }
        cluster.requireDefaults(List.of(REPLICAS), "but each of cluster.groups says how many it has; leave it out");
        var groups = new ArrayList<ReplicaGroup>();
        var names = new HashSet<String>();
        boolean isDisaggregated = haveRoles(root);
        if (isDisaggregated) {
            requireOneEngine(root, entries);
        }
        for (var entry : entries) {
            groups.add(read(root, entry, names, isDisaggregated, recordsKvEvents));
        }
        if (groups.stream().mapToInt(ReplicaGroup::numReplicas).sum() == 0) {
            throw cluster.unusable(GROUPS, "which have no replica");
        }
        requireOnePageSize(cluster, groups);
        requireOneStore(cluster, groups);
        return comparable(groups);
    }

    /** KV of one engine means nothing to another. */
    private static void requireOneEngine(Section root, List<Section> entries) {
        var kinds = entries.stream()
                .map(entry -> entry.withFallback(root.only(KIND)).text(KIND))
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

    /** Engines that move their pages to a store by themselves find there what is theirs. */
    private static void requireOneStore(Section cluster, List<ReplicaGroup> groups) {
        boolean isShared =
                groups.stream().anyMatch(group -> group.engine.kvCache().storage() == KvSource.STORE);
        long numStores = groups.stream()
                .flatMap(group -> group.stores.stream())
                .filter(KvStoreSpec::isShared)
                .distinct()
                .count();
        if (isShared && numStores > 1) {
            throw cluster.unusable(
                    GROUPS,
                    "which share one store: they must have one model, one page-size and the same kv-cache.tiers.store");
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
        return new ReplicaGroup(name, numReplicas, other, deployment, latency, role, transfers, stores, ownWeight);
    }

    private static ReplicaGroup read(
            Section root, Section entry, Set<String> names, boolean isDisaggregated, boolean recordsKvEvents) {
        requireKeysOfGroup(entry);
        var group = entry.withFallback(DEFAULTS);
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
            merged = merged.withFallback(root.only(section));
        }
        int numReplicas = group.wholeNumber(REPLICAS, 0, MAX_REPLICAS);
        var role = group.choice("role", Role.class);
        var built = read(name, numReplicas, merged, role, isDisaggregated, weight, recordsKvEvents);
        if (isDisaggregated && role == Role.BOTH && built.engine.kvCache().isPushed()) {
            throw group.unusable(
                    "role",
                    "but another group has a role, and an engine of "
                            + built.engine.traits().family() + " takes no KV without one; set prefill or decode");
        }
        return built;
    }

    /** Pages are pushed as they are. */
    private static void requireOnePageSize(Section cluster, List<ReplicaGroup> groups) {
        var first = groups.get(0);
        for (var group : groups) {
            int pageSize = group.engine.kvCache().blockSize();
            if (first.pushesKv() && pageSize != first.engine.kvCache().blockSize()) {
                throw cluster.unusable(
                        GROUPS,
                        "of which those with the roles prefill and decode hand each other pages, but page-size is "
                                + first.engine.kvCache().blockSize() + " in " + first.name + " and " + pageSize + " in "
                                + group.name + "; set engine."
                                + group.engine.traits().family()
                                + ".page-size to one value");
            }
        }
    }

    /**
     * Returns whether some replicas only compute prompts, for others of the cluster.
     *
     * @throws ScenarioException if none does although others only answer, or if none answers; if they meet other processes
     *     in rooms, one role is enough
     */
    static boolean haveRoles(Section root) {
        var cluster = root.section("cluster");
        var roles = cluster.sections(GROUPS).stream().map(ReplicaGroup::roleOf).toList();
        boolean isDisaggregated = roles.contains(Role.PREFILL);
        if (TransferSettings.hasRooms(root.section("kv-cache").section("transfer"))) {
            if (roles.isEmpty() || roles.contains(Role.BOTH)) {
                throw cluster.unusable(
                        GROUPS, "of which each must have the role prefill or decode with kv-connector = bootstrap");
            }
            return isDisaggregated && roles.contains(Role.DECODE);
        }
        if (isDisaggregated != roles.contains(Role.DECODE) && !roles.contains(Role.BOTH)) {
            throw cluster.unusable(
                    GROUPS, "of which one must answer, with the role decode or both, and one compute prompts");
        }
        if (!isDisaggregated && roles.contains(Role.DECODE)) {
            throw cluster.unusable(GROUPS, "of which none has the role prefill");
        }
        return isDisaggregated;
    }

    private static Role roleOf(Section entry) {
        return entry.at("cluster.groups").withFallback(DEFAULTS).choice("role", Role.class);
    }

    private static void requireKeysOfGroup(Section entry) {
        for (String key : entry.keys()) {
            if (!SECTIONS.contains(key) && !DEFAULTS.keys().contains(key)) {
                throw entry.problem(
                        key,
                        "unknown key " + entry.path() + "." + key
                                + "; a group has name, replicas, role, weight, and sections engine, kv-cache, latency");
            }
        }
        if (entry.has(KV_CONNECTOR)) {
            throw entry.problem(KV_CONNECTOR, entry.path() + "." + KV_CONNECTOR + " is the same for all groups");
        }
        knownKeys().check(entry);
    }

    private static KnownKeys knownKeys() {
        var known = DEFAULTS;
        for (String section : SECTIONS) {
            known = known.withFallback(Defaults.SCENARIO.only(section));
        }
        return new KnownKeys(known, EngineSettings::isOfAnotherFamily);
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
        var deployment = Deployment.read(settings.section("latency"), kvCache);
        var latency = LatencySettings.read(
                settings.section("latency"),
                deployment.device(),
                () -> EngineSettings.execution(settings.section("engine"), deployment),
                KernelFiles::read);
        int lockstepSize = deployment.lockstepSize();
        if (numReplicas % lockstepSize != 0) {
            throw settings.section("latency")
                    .unusable(
                            "data-parallel-size",
                            "but the " + numReplicas + " replicas" + (name.isEmpty() ? "" : " of " + name)
                                    + " are the ranks of such groups: a multiple of it");
        }
        boolean hasNixl = isDisaggregated || TransferSettings.reachesOutside(kvCache.section("transfer"));
        boolean hasTiers = TierSettings.areOn(kvCache.section("tiers").section("host"));
        var engine = EngineSettings.read(
                settings.section("engine"), kvCache, deployment, new KvUse(recordsKvEvents, hasNixl || hasTiers));
        var exchange = KvExchange.read(settings, engine, deployment, hasNixl);
        var connected = exchange.isEmpty() ? engine : connected(engine, exchange.get(), role);
        return new ReplicaGroup(
                name,
                numReplicas,
                connected,
                deployment,
                latency,
                role,
                exchange.map(KvExchange::transfers).orElse(null),
                exchange.map(KvExchange::stores).orElseGet(() -> KvExchange.storage(kvCache, engine, deployment)),
                weight);
    }

    private static EngineSpec connected(EngineSpec engine, KvExchange exchange, Role role) {
        return exchange.connector() == null
                ? engine.withRole(role == Role.PREFILL)
                : engine.withConnector(exchange.connector());
    }

    /** Returns whether engines with roles push KV, so that both have a request at the same time. */
    boolean pushesKv() {
        return role != Role.BOTH && engine.kvCache().isPushed();
    }

    /** Returns the model and the GPUs in words. */
    String hardware() {
        return deployment.words();
    }

    /** Returns the conclusions from the settings, a line each, with the group's name before it if it has one. */
    List<String> reasons() {
        String prefix = name.isEmpty() ? "" : name + ": ";
        return Stream.concat(deployment.reasons(engine).stream(), latency.model().sources().stream())
                .map(line -> prefix + line)
                .toList();
    }

    /** Returns reservations about the results, a line each. */
    List<String> warnings() {
        var lines = new ArrayList<>(latency.warnings());
        lines.addAll(engine.warnings());
        lines.addAll(latency.model()
                .warnings(
                        engine.traits().maxNumBatchedTokens(),
                        engine.traits().maxNumSeqs(),
                        engine.kvCache().maxModelLen()));
        return lines;
    }

    /** Returns a scenario with the values of its groups in place of words such as {@code auto}. */
    static Section resolve(List<ReplicaGroup> groups, Section root) {
        if (groups.get(0).name.isEmpty()) {
            return EngineSettings.resolve(groups.get(0).engine, root);
        }
        var entries = root.section("cluster").sections(GROUPS);
        var resolved = new ArrayList<Section>();
        for (int i = 0; i < groups.size(); i++) {
            resolved.add(EngineSettings.resolve(groups.get(i).engine, entries.get(i)));
        }
        return root.withSections("cluster." + GROUPS, resolved);
    }

    /** Returns whether its replicas keep KV in their hosts' memories. */
    boolean hasHostMemory() {
        var connector = engine.kvCache().connector();
        return connector != null && connector.sources().contains(KvSource.HOST);
    }

    /** Returns prompt tokens per second, computed in full batches on an idle replica. */
    double prefillTokensPerSecond(ApiDelay apiDelay) {
        return TokenAware.prefillTokensPerSecond(
                latency.model(), engine.traits().maxNumBatchedTokens(), apiDelay);
    }

    /**
     * Returns how each replica is built.
     *
     * @param unit prompt tokens per second for a weight of 1
     */
    ReplicaSpec spec(double unit, RandomStreams streams, boolean keepsTokenTimes) {
        var pipeline = latency.pipeline();
        var earlier = pipeline.numEarlier() == 0
                ? EarlierStages.NONE
                : new EarlierStages(pipeline.numEarlier(), engine.latency(pipeline.earlier()));
        var device = new GpuModel(
                engine.latency(pipeline.last()),
                latency.jitter(),
                engine.drafts(),
                streams,
                deployment.lockstepSize(),
                earlier);
        double weight = ownWeight.orElseGet(() -> prefillTokensPerSecond(ApiDelay.NONE) / unit);
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
