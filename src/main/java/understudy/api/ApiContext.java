package understudy.api;

import org.apache.pekko.actor.typed.ActorSystem;

/** What the parts of a server share. */
public record ApiContext(
        ActorSystem<?> system,
        ApiSettings settings,
        ClusterLink cluster,
        ServerState state,
        HttpMetrics metrics,
        HttpBodies bodies) {}
