package understudy.cluster.replica;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import understudy.cluster.ClusterFixture;
import understudy.cluster.ListWorkload;
import understudy.cluster.MetricsCollector;
import understudy.cluster.Replica;
import understudy.cluster.ReplicaPeers;
import understudy.cluster.RequestEvent;
import understudy.cluster.Router;
import understudy.engine.lora.LoraConfig;
import understudy.engine.lora.LoraCounts;
import understudy.faults.CrashRetries;
import understudy.faults.ReplicaOrder;
import understudy.faults.ReplicaOrder.AdapterAction;
import understudy.latency.BatchShape;
import understudy.testkit.VirtualTimeTestKit;

/**
 * Adapters that are loaded by a call, with one slot on the GPU and two places on the host. A step takes 5 ms, to read an
 * adapter 20 ms, and to copy it to the GPU 3 ms.
 */
final class AdaptersInVirtualTimeTest {
    private static final Replica.Done DONE = new Replica.Done(0, true);

    @AutoClose
    private final VirtualTimeTestKit kit = VirtualTimeTestKit.create();

    private final ClusterFixture cluster = new ClusterFixture();
    private final VirtualTimeTestKit.Inbox<RequestEvent> client = kit.createInbox(RequestEvent.class);
    private final VirtualTimeTestKit.Inbox<Replica.Done> answers = kit.createInbox(Replica.Done.class);
    private final List<BatchShape.Loras> batches = new ArrayList<>();
    private List<String> modules = List.of();
    private ActorRef<Replica.Command> replica;

    private void start() {
        cluster.loras = new LoraConfig(1, 2, modules, 20e6, 3e6);
        cluster.latency = batch -> {
            batches.add(batch.loras());
            return 5_000_000;
        };
        var router = kit.createInbox(Router.Command.class);
        var metrics = kit.createInbox(MetricsCollector.Command.class);
        var peers = ReplicaPeers.of(router.ref(), metrics.ref(), ClusterFixture.router(false));
        replica = kit.spawn(RunningReplica.create(kit.clock(), 0, cluster.replicaSpec(), peers), "replica");
    }

    private void order(String name, AdapterAction action) {
        replica.tell(new Replica.Order(new ReplicaOrder.OfAdapter(name, action), answers.ref()));
    }

    private void submit(long id, String adapter, int numTokens) {
        var request = ListWorkload.request(id, 0, 20, numTokens);
        replica.tell(
                new Replica.AddRequest(request.withPrompt(request.prompt().withLora(adapter)), client.ref(), true));
    }

    private void advance(long millis) {
        kit.advance(Duration.ofMillis(millis));
    }

    private List<Long> tokenMillis() {
        return client.messages().stream()
                .filter(RequestEvent.Token.class::isInstance)
                .map(token -> ((RequestEvent.Token) token).atNanos() / 1_000_000)
                .toList();
    }

    /** Orders one, and returns after how many milliseconds it has been carried out. */
    private int millis(String name, AdapterAction action) {
        int numBefore = answers.messages().size();
        order(name, action);
        int millis = 0;
        for (kit.settle(); answers.messages().size() == numBefore; millis++) {
            assertThat(millis).isLessThan(100);
            advance(1);
        }
        return millis;
    }

    @Test
    void loadedAdapter_isThereWhenTheFirstRequestComes() {
        start();

        assertThat(millis("a", AdapterAction.LOAD)).isEqualTo(23);
        submit(1, "a", 1);
        advance(5);

        assertThat(batches).containsExactly(new BatchShape.Loras(1, 20, 0, 0));
        assertThat(tokenMillis()).containsExactly(28L);
    }

    /** One step with one adapter, which a call has read and copied. */
    @Test
    void loads_areCounted() {
        start();
        millis("a", AdapterAction.LOAD);
        submit(1, "a", 1);
        advance(5);

        var records = kit.createInbox(Replica.Recorded.class);
        replica.tell(new Replica.GetRecord(records.ref()));
        kit.settle();
        assertThat(records.messages().get(0).value().stats().loras()).isEqualTo(new LoraCounts(1, 1, 1, 1));
    }

    @Test
    void adapterThatIsThere_isReadInPlaceOnly() {
        start();

        assertThat(millis("a", AdapterAction.LOAD)).isEqualTo(23);
        assertThat(millis("b", AdapterAction.LOAD)).isEqualTo(23);
        assertThat(millis("a", AdapterAction.LOAD)).as("from the host").isEqualTo(3);
        assertThat(millis("a", AdapterAction.LOAD)).isZero();
        assertThat(millis("a", AdapterAction.LOAD_INPLACE)).isEqualTo(23);
    }

    @Test
    void unloadedAdapter_isReadAgain() {
        start();
        millis("a", AdapterAction.LOAD);

        assertThat(millis("a", AdapterAction.UNLOAD)).isZero();
        submit(1, "a", 1);
        advance(5);

        assertThat(batches).containsExactly(new BatchShape.Loras(1, 20, 1, 1));
    }

    /** The second step runs from 5 to 10 ms; then the adapter is loaded until 33 ms, and the third step ends at 38 ms. */
    @Test
    void runningRequest_waitsForTheLoad() {
        start();
        submit(1, "", 3);
        advance(7);
        order("a", AdapterAction.LOAD);

        advance(25);
        assertThat(answers.messages()).isEmpty();
        advance(1);
        assertThat(answers.messages()).containsExactly(DONE);
        advance(10);

        assertThat(tokenMillis()).containsExactly(5L, 10L, 38L);
    }

    /**
     * At 7 ms the second step runs, and the third is on its way. The engine takes the result of the second at 10 ms, and
     * calls the worker, which reads the adapter beside the third step, until 33 ms; meanwhile nobody takes the third
     * step's result. The fourth runs from then on.
     */
    @Test
    void resultOfAStepInFlight_waitsForTheLoad() {
        cluster.isAsync = true;
        start();
        submit(1, "", 4);
        advance(7);
        order("a", AdapterAction.LOAD);

        advance(25);
        assertThat(answers.messages()).isEmpty();
        assertThat(tokenMillis()).containsExactly(5L, 10L);
        advance(1);
        assertThat(answers.messages()).containsExactly(DONE);
        advance(10);

        assertThat(tokenMillis()).containsExactly(5L, 10L, 33L, 38L);
    }

    /**
     * Without asynchronous scheduling two steps are in flight, of one prompt each. The engine takes the first result at
     * 5 ms; then the last worker is busy until 10 ms, and reads the adapter until 33 ms.
     */
    @Test
    void workersOfAPipeline_loadBehindTheirSteps() {
        cluster.pipelineParallelSize = 2;
        cluster.maxNumBatchedTokens = 20;
        start();
        submit(1, "", 1);
        submit(2, "", 1);
        advance(2);
        order("a", AdapterAction.LOAD);

        advance(30);
        assertThat(answers.messages()).isEmpty();
        advance(1);

        assertThat(answers.messages()).containsExactly(DONE);
        assertThat(tokenMillis()).containsExactly(5L, 33L);
    }

    /** Two loads follow each other, to 46 ms, before a step that a request has asked for in between. */
    @Test
    void loads_takeTurnsBeforeTheNextStep() {
        start();
        order("a", AdapterAction.LOAD);
        advance(10);
        submit(1, "b", 1);
        order("b", AdapterAction.LOAD);

        advance(13);
        assertThat(answers.messages()).containsExactly(DONE);
        advance(23);
        assertThat(answers.messages()).containsExactly(DONE, DONE);
        advance(5);

        assertThat(tokenMillis()).containsExactly(51L);
        assertThat(batches).containsExactly(new BatchShape.Loras(1, 20, 0, 0));
    }

    @Test
    void abortDuringALoad_takesEffectAfterIt() {
        start();
        submit(1, "", 9);
        advance(7);
        order("a", AdapterAction.LOAD);
        advance(5);

        replica.tell(new Replica.Abort(1));
        advance(20);
        assertThat(client.messages()).noneMatch(RequestEvent.Ended.class::isInstance);
        advance(1);

        assertThat(client.messages()).last().isInstanceOf(RequestEvent.Finished.class);
        assertThat(answers.messages()).containsExactly(DONE);
    }

    @Test
    void resetDuringALoad_takesItsTurn() {
        start();
        order("a", AdapterAction.LOAD);
        advance(10);
        replica.tell(new Replica.Order(new ReplicaOrder.ResetPrefixCache(true), answers.ref()));

        advance(12);
        assertThat(answers.messages()).isEmpty();
        advance(1);
        assertThat(answers.messages()).containsExactly(DONE, DONE);
    }

    @Test
    void replicaThatDies_leavesNobodyWaiting() {
        start();
        submit(1, "", 9);
        advance(7);
        order("a", AdapterAction.LOAD);
        order("b", AdapterAction.LOAD);
        advance(5);

        replica.tell(new Replica.Crash(CrashRetries.NONE));
        advance(1);

        assertThat(answers.messages()).containsExactly(DONE, DONE);
    }

    /** Of three adapters at the start the last two are on the host, and the last one on the GPU. */
    @Test
    void modules_areThereFromTheStart() {
        modules = List.of("a", "b", "c");
        start();

        submit(1, "c", 1);
        advance(5);
        submit(2, "b", 1);
        advance(5);
        submit(3, "a", 1);
        advance(5);

        assertThat(batches)
                .containsExactly(
                        new BatchShape.Loras(1, 20, 0, 0),
                        new BatchShape.Loras(1, 20, 0, 1),
                        new BatchShape.Loras(1, 20, 1, 1));
    }
}
