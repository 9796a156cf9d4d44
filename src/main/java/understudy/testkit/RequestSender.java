package understudy.testkit;

import java.util.OptionalInt;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import understudy.cluster.RequestEvent;
import understudy.cluster.Router;
import understudy.engine.OutputPlan;
import understudy.engine.RequestBuilder;
import understudy.engine.SamplingParams;
import understudy.faults.RequestFault;
import understudy.host.ClusterHost;
import understudy.prompt.Prompt;
import understudy.prompt.SegmentedTokens;
import understudy.prompt.SyntheticTokens;

/** Sends a test's requests to a cluster, and hands on their events. Thread-safe. */
final class RequestSender {
    /** Far above the ids of other senders. */
    private static final long FIRST_REQUEST_ID = 1L << 62;

    private final ClusterHost host;
    private final ActorRef<RequestEvent> requestEvents;
    private final ConcurrentHashMap<Long, EmulatedRequest> requests = new ConcurrentHashMap<>();
    private final AtomicLong numRequests = new AtomicLong();

    RequestSender(ClusterHost host) {
        this.host = host;
        requestEvents = host.spawn(Behaviors.receiveMessage(this::onEvent), "request-events");
    }

    EmulatedRequest submit(int numPromptTokens, int numOutputTokens) {
        var prompt = SegmentedTokens.EMPTY.append(numRequests.get(), numPromptTokens);
        return submit(new Prompt(prompt), SamplingParams.ofMaxTokens(numOutputTokens), RequestFault.NONE);
    }

    EmulatedRequest submit(Prompt prompt, SamplingParams sampling, RequestFault fault) {
        long id = FIRST_REQUEST_ID + numRequests.getAndIncrement();
        var submitted = new EmulatedRequest(id);
        requests.put(id, submitted);
        var output = new OutputPlan(new SyntheticTokens(-1 - id), OutputPlan.ENDLESS);
        var time = host.time();
        time.post(() -> {
            var request = RequestBuilder.builder()
                    .id(id)
                    .name("")
                    .arrivalNanos(time.nowNanos())
                    .prompt(prompt)
                    .sampling(sampling)
                    .priority(0)
                    .tenant("")
                    .output(output)
                    .build();
            host.router().tell(new Router.Submit(request, requestEvents, true, OptionalInt.empty(), fault));
        });
        return submitted;
    }

    private Behavior<RequestEvent> onEvent(RequestEvent event) {
        var request = requests.get(event.requestId());
        if (request != null) {
            request.onEvent(event);
        }
        return Behaviors.same();
    }
}
