package understudy.api.call;

import io.soabase.recordbuilder.core.RecordBuilder;
import org.apache.pekko.actor.typed.ActorSystem;
import understudy.api.http.HttpBodies;
import understudy.api.http.HttpMetrics;

/** Context shared by the parts of a server. */
@RecordBuilder
public record ApiContext(
        ActorSystem<?> system,
        ApiSettings settings,
        ClusterControl cluster,
        ClusterLink link,
        KeptKv keptKv,
        ServerState state,
        HttpMetrics metrics,
        HttpBodies bodies,
        Sessions sessions,
        LoraAdapters loras) {}
