package understudy.routing;

import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import understudy.engine.OutputPlan;
import understudy.engine.Request;
import understudy.kvcache.KvEvent;
import understudy.prompt.Prompt;
import understudy.prompt.SessionTurn;
import understudy.prompt.TokenIds;
import understudy.prompt.Xxh3BlockHasher;
import understudy.routing.policy.RoutingPolicies;
import understudy.scenario.ScenarioFile;
import understudy.settings.Section;
import understudy.workload.RandomStreams;

/** Requests and events over runs of consecutive token ids, in blocks of 4. */
public final class RoutingFixture {
    private static final Xxh3BlockHasher HASHER = new Xxh3BlockHasher(4);

    private RoutingFixture() {}

    public static ClusterView view(int numReplicas) {
        var view = new ClusterView();
        IntStream.range(0, numReplicas).forEach(i -> view.addReplica());
        return view;
    }

    /** Returns a policy by its name, with the defaults but for some settings in HOCON, for blocks of 4 and seed 1. */
    public static RoutingPolicy policy(String name, String settings) {
        String own = settings.isEmpty() ? "" : "router." + name + " { " + settings + " }";
        var router = new ScenarioFile(Map.of()).load(Section.of(own)).section("router");
        var section = router.sectionOrEmpty(name).at(name);
        var cluster = new RoutingPolicyFactory.Cluster(HASHER, 3, 1_000, new RandomStreams(1));
        return Objects.requireNonNull(RoutingPolicies.byName().get(name))
                .read(PolicySettings.of(section))
                .create(cluster);
    }

    public static Prompt prompt(int firstToken, int numTokens) {
        return new Prompt(
                new TokenIds(IntStream.range(firstToken, firstToken + numTokens).toArray()));
    }

    public static Request request(long id, int firstToken, int numTokens) {
        return Request.of(id, 0, prompt(firstToken, numTokens), 10, new OutputPlan(i -> i, 10));
    }

    public static Request request(long id, int[] tokens) {
        return Request.of(id, 0, new Prompt(new TokenIds(tokens)), 10, new OutputPlan(i -> i, 10));
    }

    /** A request of a session, which may have had any number of turns. */
    public static Request turn(long sessionId, long id, int firstToken, int numTokens) {
        var prompt = new Prompt(prompt(firstToken, numTokens).tokens(), SessionTurn.of(sessionId, 1));
        return Request.of(id, 0, prompt, 10, new OutputPlan(i -> i, 10));
    }

    /** Settings of a policy: the defaults, but for these. */
    public static PolicySettings settings(String policy, String changed) {
        String path = "router." + policy;
        var scenario = Section.of(path + " { " + changed + " }");
        return PolicySettings.of(new ScenarioFile(Map.of()).load(scenario).section(path));
    }

    public static long[] hashes(int firstToken, int numTokens) {
        return prompt(firstToken, numTokens).blockHashes(HASHER);
    }

    public static List<KvEvent> stored(int firstToken, int numTokens) {
        var prompt = prompt(firstToken, numTokens);
        return List.of(new KvEvent.Stored(new LongArrayList(prompt.blockHashes(HASHER)), false, 0, prompt.tokens(), 0));
    }

    public static List<KvEvent> removed(long... hashes) {
        return List.of(new KvEvent.Removed(new LongArrayList(hashes)));
    }
}
