package understudy.api.sidechannel;

import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import understudy.api.call.ApiSettings;
import understudy.api.call.SideChannelPeers;
import understudy.cluster.sidechannel.SideChannel;
import understudy.host.ClusterHost;
import understudy.kvcache.connector.RemoteKv;
import understudy.runtime.VirtualTime;

/**
 * Carrier of words to other processes: a POST each, to the address that a call has named.
 *
 * <p>A process that does not answer within 5 s of wall time counts as gone. Answers reach the emulation at the virtual
 * time that the wall clock calls for, so the way there and back is part of a first token's time.
 */
public final class SideChannelClient {
    private static final Logger LOG = LoggerFactory.getLogger(SideChannelClient.class);
    private static final Duration LIMIT = Duration.ofSeconds(5);

    private final HttpClient client = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(LIMIT)
            .build();
    private final VirtualTime<?> time;

    private final SideChannelPeers peers;
    private final PushRooms rooms;

    /** Whether there was a warning that a call has named a process that is no peer; one is enough. */
    private final AtomicBoolean hasWarned = new AtomicBoolean();

    private SideChannelClient(VirtualTime<?> time, SideChannelPeers peers, PushRooms rooms) {
        this.time = time;
        this.peers = peers;
        this.rooms = rooms;
    }

    /**
     * Starts the carrier of a cluster, or returns null if the settings ask for none.
     *
     * @param rooms rooms of requests whose prompts are computed here
     */
    public static @Nullable ActorRef<SideChannel.Command> start(
            ClusterHost host, ActorSystem<?> system, ApiSettings settings, PushRooms rooms) {
        return settings.sideChannel()
                .map(channel -> new SideChannelClient(host.time(), channel.peers(), rooms))
                .map(client -> host.spawn(system, client.carrying(), "side-channel"))
                .orElse(null);
    }

    private Behavior<SideChannel.Command> carrying() {
        return Behaviors.receiveMessage(command -> {
            if (command instanceof SideChannel.Say say) {
                send(say).thenAccept(state -> {
                    var answer = new SideChannel.Answer(say.word(), say.requestId(), state);
                    time.post(() -> say.replyTo().tell(answer));
                });
            } else if (command instanceof SideChannel.Host own) {
                rooms.host(own);
            } else if (command instanceof SideChannel.Settle settle) {
                rooms.settle(settle);
            }
            return Behaviors.same();
        });
    }

    /** Never fails: what cannot be sent was not answered. A name may have to be looked up, which takes its time. */
    private CompletionStage<SideChannel.State> send(SideChannel.Say command) {
        var kv = command.kv();
        return CompletableFuture.supplyAsync(() -> peers.find(kv.host(), kv.port()))
                .thenCompose(peer -> {
                    if (peer.isEmpty()) {
                        warnOf(kv);
                        return CompletableFuture.completedFuture(SideChannel.State.UNREACHABLE);
                    }
                    return post(command.word(), peer.get().getHostAddress(), kv);
                })
                .exceptionally(failure -> SideChannel.State.UNREACHABLE);
    }

    private CompletionStage<SideChannel.State> post(SideChannel.Word word, String host, RemoteKv kv) {
        try {
            var request = HttpRequest.newBuilder(uri(word, host, kv))
                    .timeout(word == SideChannel.Word.PLACES ? PushRooms.LIMIT : LIMIT)
                    .POST(HttpRequest.BodyPublishers.noBody())
                    .build();
            return client.sendAsync(request, head -> new NoBody()).thenApply(SideChannelClient::state);
        } catch (URISyntaxException | IllegalArgumentException e) {
            return CompletableFuture.completedFuture(SideChannel.State.UNREACHABLE);
        }
    }

    private void warnOf(RemoteKv kv) {
        if (!hasWarned.getAndSet(true)) {
            LOG.warn(
                    "a call names {}:{} as the keeper of its KV, which is none of server.side-channel-peers or is not"
                            + " known; this is said once",
                    kv.host(),
                    kv.port());
        }
    }

    private static URI uri(SideChannel.Word word, String host, RemoteKv kv) throws URISyntaxException {
        var address = new URI("http", null, host, kv.port(), SideChannelServer.path(word), null, null);
        return URI.create(address + "?" + SideChannelServer.ENGINE_ID + "=" + encoded(kv.engineId()) + "&"
                + SideChannelServer.REQUEST_ID + "=" + encoded(kv.requestId()));
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    private static SideChannel.State state(HttpResponse<Void> response) {
        return switch (response.statusCode()) {
            case SideChannelServer.KEPT -> SideChannel.State.KEPT;
            case SideChannelServer.GIVEN_UP -> SideChannel.State.GIVEN_UP;
            default -> SideChannel.State.UNREACHABLE;
        };
    }

    /** Ignores bodies: the status is the whole answer, and another kind of server might send a body without end. */
    private static final class NoBody implements HttpResponse.BodySubscriber<Void> {
        @Override
        public CompletionStage<Void> getBody() {
            return CompletableFuture.completedStage(null);
        }

        @Override
        public void onSubscribe(Flow.Subscription body) {
            body.cancel();
        }

        @Override
        public void onNext(List<ByteBuffer> part) {}

        @Override
        public void onError(Throwable failure) {}

        @Override
        public void onComplete() {}
    }
}
