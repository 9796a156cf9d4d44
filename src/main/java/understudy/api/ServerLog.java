package understudy.api;

import org.apache.pekko.actor.ExtendedActorSystem;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.event.BusLogging;
import org.apache.pekko.event.LoggingFilterWithMarker$;
import understudy.api.call.CutException;

/** Log of the HTTP library, without the responses that were reset on request. */
final class ServerLog extends BusLogging {

    ServerLog(ActorSystem<?> system) {
        this((ExtendedActorSystem) system.classicSystem());
    }

    private ServerLog(ExtendedActorSystem system) {
        super(
                system.eventStream(),
                ServerLog.class.getName(),
                ServerLog.class,
                LoggingFilterWithMarker$.MODULE$.wrap(system.logFilter()));
    }

    @Override
    public void notifyError(Throwable cause, String message) {
        if (!(cause instanceof CutException)) {
            super.notifyError(cause, message);
        }
    }
}
