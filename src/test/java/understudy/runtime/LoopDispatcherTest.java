package understudy.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.apache.pekko.actor.ActorCell;
import org.apache.pekko.actor.ActorRefWithCell;
import org.apache.pekko.actor.DeadLetter;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.Props;
import org.apache.pekko.actor.typed.Terminated;
import org.apache.pekko.actor.typed.javadsl.Adapter;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Mailboxes of an emulation, with actors as Pekko runs them. */
final class LoopDispatcherTest {
    private final List<String> received = new CopyOnWriteArrayList<>();

    @AutoClose
    private final VirtualTime<String> time = VirtualTime.create("test", clock -> Behaviors.empty());

    private ActorRef<String> spawn(String name, Behavior<String> behavior) {
        return time.system().systemActorOf(behavior, name, Props.empty());
    }

    private Behavior<String> recorder() {
        return Behaviors.receiveMessage(text -> {
            received.add(text);
            return text.equals("stop") ? Behaviors.stopped() : Behaviors.same();
        });
    }

    /** Runs a task on the loop, and then whatever follows from it. */
    private void onLoop(Runnable task) {
        time.post(task);
        time.advance(Duration.ZERO);
    }

    private static void tell(ActorRef<String> receiver, String... texts) {
        Stream.of(texts).forEach(receiver::tell);
    }

    @Test
    void typedActor_hasAMailboxOfTheLoop() {
        var classic = (ActorRefWithCell) Adapter.toClassic(spawn("recorder", recorder()));
        time.advance(Duration.ZERO);

        var cell = (ActorCell) classic.underlying();
        assertThat(cell.mailbox().messageQueue()).isInstanceOf(LoopMailbox.class);
        assertThat(cell.dispatcher()).isInstanceOf(LoopDispatcher.class);
    }

    /** Each actor takes one message per turn. */
    @Test
    void actorsOfOneInstant_takeTurns() {
        var first = spawn("first", recorder());
        var second = spawn("second", recorder());

        onLoop(() -> {
            tell(first, "1a", "1b", "1c");
            tell(second, "2a", "2b");
        });

        assertThat(received).containsExactly("1a", "2a", "1b", "2b", "1c");
    }

    /** The actor sends to itself while it has its turn. */
    @Test
    void messageToOneself_comesAfterThoseThatWait() {
        var again = spawn(
                "again",
                Behaviors.setup(context -> Behaviors.receiveMessage(text -> {
                    received.add(text);
                    if (text.equals("first")) {
                        context.getSelf().tell("own");
                    }
                    return Behaviors.same();
                })));

        onLoop(() -> tell(again, "first", "second"));

        assertThat(received).containsExactly("first", "second", "own");
    }

    /** Four threads send 2,500 messages each, while the loop sends as many. */
    @Test
    void messagesOfManyThreads_allComeAndKeepTheOrderOfEachThread() throws InterruptedException {
        var recorder = spawn("recorder", recorder());
        var threads = new ArrayList<Thread>();
        for (int i = 0; i < 4; i++) {
            String name = "thread " + i;
            threads.add(new Thread(() -> send(recorder, name)));
        }

        threads.forEach(Thread::start);
        onLoop(() -> send(recorder, "loop"));
        for (var thread : threads) {
            thread.join();
        }
        time.advance(Duration.ZERO);

        assertThat(received).hasSize(5 * 2_500);
        for (var name : List.of("thread 0", "thread 1", "thread 2", "thread 3", "loop")) {
            var ofThread =
                    received.stream().filter(text -> text.startsWith(name)).toList();
            assertThat(ofThread).isEqualTo(numbered(name));
        }
    }

    private static void send(ActorRef<String> receiver, String name) {
        numbered(name).forEach(receiver::tell);
    }

    private static List<String> numbered(String name) {
        var texts = new ArrayList<String>();
        for (int i = 0; i < 2_500; i++) {
            texts.add(name + ", message " + i);
        }
        return texts;
    }

    /** A message that was sent before the loop was told to send another one comes before it. */
    @Test
    void messageFromOutside_comesBeforeWhatTheLoopSendsLater() {
        var recorder = spawn("recorder", recorder());

        recorder.tell("from outside");
        onLoop(() -> recorder.tell("from the loop"));

        assertThat(received).containsExactly("from outside", "from the loop");
    }

    @Test
    void messagesThatAStoppedActorLeaves_areDeadLetters() {
        var dead = new ArrayList<Object>();
        var classic = Adapter.toClassic(time.system());
        var listener = spawnAny(Behaviors.receiveMessage(letter -> {
            dead.add(((DeadLetter) letter).message());
            return Behaviors.same();
        }));
        classic.eventStream().subscribe(Adapter.toClassic(listener), DeadLetter.class);
        var recorder = spawn("recorder", recorder());

        onLoop(() -> tell(recorder, "a", "stop", "b", "c"));
        onLoop(() -> recorder.tell("d"));

        assertThat(received).containsExactly("a", "stop");
        assertThat(dead).containsExactly("b", "c", "d");
    }

    private ActorRef<Object> spawnAny(Behavior<Object> behavior) {
        return time.system().systemActorOf(behavior, "listener", Props.empty());
    }

    /** A supervisor may suspend an actor whose turn waits already; what waits for it comes once it goes on. */
    @Test
    void suspendedActor_receivesNothingBeforeItIsResumed() {
        var recorder = spawn("recorder", recorder());
        time.advance(Duration.ZERO);
        var classic = (ActorRefWithCell) Adapter.toClassic(recorder);

        onLoop(() -> {
            tell(recorder, "a");
            classic.suspend();
        });
        onLoop(() -> tell(recorder, "b"));
        assertThat(received).isEmpty();

        onLoop(() -> classic.resume(null));
        assertThat(received).containsExactly("a", "b");
    }

    /** A watcher hears of the end by a system message, also if no message of its own waits. */
    @Test
    void systemMessages_makeAnIdleActorReady() {
        var ended = new CompletableFuture<String>();
        var recorder = spawn("recorder", recorder());
        spawn("watcher", Behaviors.setup(context -> {
            context.watch(recorder);
            return Behaviors.receive(String.class)
                    .onSignal(Terminated.class, signal -> {
                        ended.complete("ended");
                        return Behaviors.same();
                    })
                    .build();
        }));

        onLoop(() -> recorder.tell("stop"));

        assertThat(ended).isCompletedWithValue("ended");
    }
}
