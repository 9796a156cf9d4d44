package understudy.api.call;

import org.apache.pekko.actor.typed.ActorSystem;
import understudy.api.http.HttpBodies;
import understudy.api.http.HttpMetrics;

/** What the parts of a server share. */
public record ApiContext(
        ActorSystem<?> system,
        ApiSettings settings,
        ClusterLink cluster,
        ServerState state,
        HttpMetrics metrics,
        HttpBodies bodies,
        Sessions sessions) {}
