package understudy.api.sidechannel;

import java.util.Arrays;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.http.javadsl.ConnectionContext;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpMethods;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.StatusCodes;
import org.apache.pekko.stream.javadsl.Flow;
import org.jspecify.annotations.Nullable;
import understudy.api.call.ApiContext;
import understudy.api.call.KvAddress;
import understudy.api.call.SideChannelSettings;
import understudy.api.call.SideChannelSettings.Rooms;
import understudy.api.http.GuardedHttp;
import understudy.api.http.HttpFailures;
import understudy.cluster.ClusterSpec;
import understudy.cluster.sidechannel.SideChannel;

/**
 * Port at which other processes ask for KV that is kept for them: {@code POST
 * /kv_transfer/look?engine_id=...&request_id=...}, likewise {@code renew} and {@code done}; see {@link SideChannel.Word}.
 * The answer is a status without a body, which says how it was before: 204 if the blocks are kept, 410 if not.
 *
 * <p>Where KV is pushed it is the bootstrap server of SGLang, too; see {@link BootstrapServer}. {@code POST
 * /kv_transfer/places?request_id=ROOM} is answered when all KV of a room was sent (204) or will not be (410).
 *
 * <p>It asks for no key: who knows the engine's id was told it by a proxy, which got it with an answer.
 */
public final class SideChannelServer {
    static final String ENGINE_ID = "engine_id";
    static final String REQUEST_ID = "request_id";
    static final int KEPT = 204;
    static final int GIVEN_UP = 410;
    private static final int BIND_LIMIT_SECONDS = 60;

    private final ApiContext api;
    private final PushRooms rooms;
    private final @Nullable BootstrapServer bootstrap;
    private final CompletableFuture<KvAddress> address = new CompletableFuture<>();

    private SideChannelServer(ApiContext api, PushRooms rooms, @Nullable BootstrapServer bootstrap) {
        this.api = api;
        this.rooms = rooms;
        this.bootstrap = bootstrap;
    }

    /**
     * Opens the port if the settings ask for it; throws if it cannot be had. It is closed with the server's system.
     *
     * @param spec the cluster
     * @param rooms rooms of requests whose prompts are computed here
     * @return the port, or empty if there is none
     */
    public static OptionalInt open(ApiContext api, ClusterSpec spec, PushRooms rooms) {
        var settings = api.settings().sideChannel();
        if (settings.isEmpty() || settings.get().rooms() == Rooms.VISITED) {
            return OptionalInt.empty();
        }
        var bootstrap = settings.get().rooms() == Rooms.OFFERED
                ? new BootstrapServer(
                        spec, settings.get(), api.settings().http().port())
                : null;
        return OptionalInt.of(new SideChannelServer(api, rooms, bootstrap).open(settings.get()));
    }

    private int open(SideChannelSettings settings) {
        var binding = GuardedHttp.of(api.system())
                .bind(
                        api.settings().http().host(),
                        settings.port(),
                        ConnectionContext.noEncryption(),
                        api.system().classicSystem().log(),
                        Flow.<HttpRequest>create().mapAsync(1, this::handle))
                .toCompletableFuture()
                .orTimeout(BIND_LIMIT_SECONDS, TimeUnit.SECONDS)
                .join();
        int port = binding.localAddress().getPort();
        var own = new KvAddress(engineId(), settings.host(), port, settings.tensorParallelSize());
        if (bootstrap == null) {
            api.keptKv().setAddress(own);
        }
        address.complete(own);
        return port;
    }

    /** Returns a random id, which cannot be guessed, and which no two processes share; as in vLLM. */
    private static String engineId() {
        return UUID.randomUUID().toString();
    }

    /** Returns the path of a word. */
    static String path(SideChannel.Word word) {
        return "/kv_transfer/" + word.name().toLowerCase(Locale.ROOT);
    }

    private CompletionStage<HttpResponse> handle(HttpRequest request) {
        if (bootstrap != null && bootstrap.has(request)) {
            return bootstrap.answer(request, api.system());
        }
        request.entity().discardBytes(api.system());
        var word = Arrays.stream(SideChannel.Word.values())
                .filter(each -> path(each).equals(request.getUri().path()))
                .findFirst();
        if (word.isEmpty() || !request.method().equals(HttpMethods.POST)) {
            return CompletableFuture.completedFuture(HttpResponse.create().withStatus(StatusCodes.NOT_FOUND));
        }
        return address.thenCompose(own -> isYes(own, request, word.get()))
                .thenApply(SideChannelServer::answer)
                .exceptionally(HttpFailures::response);
    }

    private CompletionStage<Boolean> isYes(KvAddress own, HttpRequest request, SideChannel.Word word) {
        return switch (word) {
            case LOOK, RENEW, DONE -> kept(own, request, word);
            case MEET -> CompletableFuture.completedFuture(bootstrap != null);
            case PLACES, GONE ->
                rooms.hear(word, parameter(request, REQUEST_ID)).thenApply(state -> state == SideChannel.State.KEPT);
        };
    }

    private CompletionStage<Boolean> kept(KvAddress own, HttpRequest request, SideChannel.Word word) {
        var replica = own.replicaOf(parameter(request, ENGINE_ID));
        var number = KvAddress.numberOf(parameter(request, REQUEST_ID));
        if (replica.isEmpty() || number.isEmpty()) {
            return CompletableFuture.completedFuture(false);
        }
        return api.keptKv()
                .ask(replica.getAsInt(), word, number.getAsLong())
                .thenApply(answer -> !answer.blocks().isEmpty());
    }

    private static String parameter(HttpRequest request, String key) {
        return request.getUri().query().get(key).orElse("");
    }

    private static HttpResponse answer(boolean isKept) {
        return HttpResponse.create().withStatus(isKept ? KEPT : GIVEN_UP).withEntity(HttpEntities.EMPTY);
    }
}
