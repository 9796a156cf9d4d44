package understudy.runtime;

import com.typesafe.config.Config;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.ActorCell;
import org.apache.pekko.actor.Cell;
import org.apache.pekko.dispatch.Dispatcher;
import org.apache.pekko.dispatch.DispatcherPrerequisites;
import org.apache.pekko.dispatch.Envelope;
import org.apache.pekko.dispatch.Mailbox;
import org.apache.pekko.dispatch.MailboxType;
import org.apache.pekko.dispatch.MessageDispatcher;
import org.apache.pekko.dispatch.MessageDispatcherConfigurator;
import org.apache.pekko.dispatch.SingleConsumerOnlyUnboundedMailbox;
import scala.concurrent.duration.Duration;

/**
 * Pekko's dispatcher for actors of one {@link EventLoop}: what other threads send is put into a {@link LoopMailbox} by
 * the loop, as work from outside. Other mailboxes, such as those of loggers, are Pekko's and work as ever.
 */
final class LoopDispatcher extends Dispatcher {
    private final EventLoop loop;

    private LoopDispatcher(Configurator configurator, Config config, EventLoop loop) {
        super(
                configurator,
                config.getString("id"),
                config.getInt("throughput"),
                Duration.Zero(),
                configurator.configureExecutor(),
                Duration.create(config.getDuration("shutdown-timeout", TimeUnit.MILLISECONDS), TimeUnit.MILLISECONDS));
        this.loop = loop;
    }

    /** Creates the dispatcher; Pekko creates it by name from the dispatcher's {@code type}. */
    public static final class Configurator extends MessageDispatcherConfigurator {
        private final LoopDispatcher dispatcher;

        /** Called by Pekko, which fixes the parameters. */
        public Configurator(Config config, DispatcherPrerequisites prerequisites) {
            super(config, prerequisites);
            dispatcher = new LoopDispatcher(this, config, VirtualTimeScheduler.loopOf(prerequisites.scheduler()));
        }

        @Override
        public MessageDispatcher dispatcher() {
            return dispatcher;
        }
    }

    /** Gives our mailbox to whoever is to have Pekko's for a single consumer, as typed actors are. */
    @Override
    public Mailbox createMailbox(Cell actor, MailboxType type) {
        if (!(type instanceof SingleConsumerOnlyUnboundedMailbox)) {
            return super.createMailbox(actor, type);
        }
        var ours = new LoopMailbox();
        var mailbox = super.createMailbox(actor, (owner, system) -> ours);
        ours.attach(mailbox);
        return mailbox;
    }

    @Override
    public void dispatch(ActorCell receiver, Envelope envelope) {
        var mailbox = receiver.mailbox();
        if (!(mailbox.messageQueue() instanceof LoopMailbox ours)) {
            super.dispatch(receiver, envelope);
        } else if (loop.isLoopThread()) {
            ours.enqueue(receiver.self(), envelope);
            makeReady(mailbox, ours, true, false);
        } else {
            loop.execute(() -> dispatch(receiver, envelope));
        }
    }

    @Override
    public boolean registerForExecution(Mailbox mailbox, boolean hasMessageHint, boolean hasSystemMessageHint) {
        if (!(mailbox.messageQueue() instanceof LoopMailbox ours)) {
            return super.registerForExecution(mailbox, hasMessageHint, hasSystemMessageHint);
        }
        if (loop.isLoopThread()) {
            return makeReady(mailbox, ours, hasMessageHint, hasSystemMessageHint);
        }
        loop.execute(() -> makeReady(mailbox, ours, hasMessageHint, hasSystemMessageHint));
        return true;
    }

    private boolean makeReady(Mailbox mailbox, LoopMailbox ours, boolean hasMessageHint, boolean hasSystemMessageHint) {
        boolean becomesReady =
                mailbox.canBeScheduledForExecution(hasMessageHint, hasSystemMessageHint) && ours.becomeReady();
        if (becomesReady) {
            loop.execute(ours);
        }
        return becomesReady;
    }
}
