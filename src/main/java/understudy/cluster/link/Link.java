package understudy.cluster.link;

import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import org.apache.commons.rng.UniformRandomProvider;
import org.apache.pekko.actor.Cancellable;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.PostStop;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import understudy.faults.Fault;
import understudy.runtime.Clock;
import understudy.transfer.LinkSpec;
import understudy.transfer.PortGroup;
import understudy.transfer.Transfer;
import understudy.transfer.TransferEnded;
import understudy.transfer.Transfers;

/**
 * Medium whose bandwidth concurrent transfers share: the network between replicas, a storage service, the PCIe of one
 * GPU.
 */
public final class Link extends AbstractBehavior<Link.Command> {

    /** Messages of a link. */
    public sealed interface Command {}

    /** Starts a transfer; answered by {@link TransferEnded} unless it is cancelled. */
    public record Start(Transfer transfer, ActorRef<? super TransferEnded> replyTo) implements Command {}

    /** Ends a transfer without an answer. It may have ended: its answer is then on its way. */
    public record Cancel(long id) implements Command {}

    /** Adds ports, which get the next numbers. */
    public record AddPorts(PortGroup ports) implements Command {}

    /** A port carries {@code factor} of its capacity: 0 if it is broken, and at first 1. */
    public record SetFactor(int port, double factor) implements Command {}

    /** Each transfer that starts from now on fails with this probability, 0 to 1, and at first 0. */
    public record SetFailShare(double share) implements Command {}

    /** All transfers that cross a port now fail. */
    public record FailPort(int port) implements Command {}

    private enum Happen implements Command {
        NOW
    }

    private final Clock clock;
    private final Transfers transfers;
    private final Long2ObjectOpenHashMap<ActorRef<? super TransferEnded>> clients = new Long2ObjectOpenHashMap<>();
    private Cancellable next = Cancellable.alreadyCancelled();
    private long nextNanos = Long.MAX_VALUE;

    private Link(ActorContext<Command> context, Clock clock, Transfers transfers) {
        super(context);
        this.clock = clock;
        this.transfers = transfers;
    }

    /** Creates an idle link; failures by chance are drawn from {@code random}, which must have no other user. */
    public static Behavior<Command> create(Clock clock, LinkSpec spec, UniformRandomProvider random) {
        return Behaviors.setup(context -> new Link(context, clock, new Transfers(spec, random)));
    }

    /** Lets a fault of a link take effect at some of its ports. */
    public static void set(ActorRef<Command> link, Fault.OfLinks fault, int... ports) {
        if (fault instanceof Fault.FailTransfers fail) {
            link.tell(new SetFailShare(fail.rate()));
        } else if (fault instanceof Fault.SlowLink slow) {
            for (int port : ports) {
                link.tell(new SetFactor(port, slow.factor()));
            }
        }
    }

    @Override
    public Receive<Command> createReceive() {
        return newReceiveBuilder()
                .onMessage(Start.class, this::onStart)
                .onMessage(Cancel.class, this::onCancel)
                .onMessage(AddPorts.class, this::onAddPorts)
                .onMessage(SetFactor.class, this::onSetFactor)
                .onMessage(SetFailShare.class, this::onSetFailShare)
                .onMessage(FailPort.class, this::onFailPort)
                .onMessage(Happen.class, now -> answerAll())
                .onSignal(PostStop.class, stopped -> onStop())
                .build();
    }

    private Behavior<Command> onStart(Start start) {
        transfers.start(start.transfer, clock.nowNanos());
        clients.put(start.transfer.id(), start.replyTo);
        return answerAll();
    }

    private Behavior<Command> onCancel(Cancel cancel) {
        transfers.cancel(cancel.id, clock.nowNanos());
        answerAll();
        clients.remove(cancel.id);
        return this;
    }

    private Behavior<Command> onAddPorts(AddPorts add) {
        transfers.add(add.ports);
        return this;
    }

    private Behavior<Command> onSetFactor(SetFactor set) {
        transfers.setFactor(set.port, set.factor, clock.nowNanos());
        return answerAll();
    }

    private Behavior<Command> onSetFailShare(SetFailShare set) {
        transfers.setFailShare(set.share);
        return this;
    }

    private Behavior<Command> onFailPort(FailPort fail) {
        transfers.fail(fail.port, clock.nowNanos());
        return answerAll();
    }

    private Behavior<Command> onStop() {
        next.cancel();
        return this;
    }

    /** Answers for all transfers that have ended, and sets the timer of the next change. */
    private Behavior<Command> answerAll() {
        transfers.endedBy(clock.nowNanos()).forEach(this::answer);
        long atNanos = transfers.nextNanos();
        if (atNanos != nextNanos) {
            next.cancel();
            nextNanos = atNanos;
            next = timer();
        }
        return this;
    }

    private void answer(TransferEnded ended) {
        clients.remove(ended.id()).tell(ended);
    }

    private Cancellable timer() {
        return nextNanos == Long.MAX_VALUE
                ? Cancellable.alreadyCancelled()
                : clock.tellAfter(nextNanos - clock.nowNanos(), getContext().getSelf(), Happen.NOW);
    }
}
