package understudy.api;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.OptionalInt;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import understudy.api.call.ApiSettings;
import understudy.api.call.SideChannelSettings;
import understudy.api.call.SideChannelSettings.Rooms;
import understudy.api.http.HttpSettingsBuilder;
import understudy.api.http.Json;
import understudy.api.http.PodNames;
import understudy.cluster.ClusterSpec;
import understudy.kvcache.connector.RemoteKv;

/**
 * Warm-up of the JVM by calls of a private server, so that the first clients of the real one do not wait for classes to
 * be loaded and code to be compiled: that time, tenths of a second at first, is none of the emulation's. Metrics,
 * caches and random streams of the real server remain untouched.
 */
public final class WarmUp {
    private static final Logger LOG = LoggerFactory.getLogger(WarmUp.class);
    private static final int READ_LIMIT_MILLIS = 5_000;
    private static final int CALLS_PER_WORD = 4;

    private WarmUp() {}

    /** Sends {@code numRequests} streams, one after the other, to a server like the one that is to be started. */
    public static void run(ClusterSpec spec, ApiSettings settings, int numRequests) {
        if (numRequests == 0) {
            return;
        }
        try (var server = EmulationServer.start(
                ClusterSpec.ofOne(spec.actors(), spec.kinds().get(0)), Double.POSITIVE_INFINITY, unseen(settings))) {
            for (int i = 0; i < numRequests; i++) {
                if (settings.model().pooling() == null) {
                    call(server.address(), i, settings);
                } else {
                    pool(server.address(), i, settings.servedModel());
                }
            }
        } catch (IOException e) {
            LOG.warn("the warm-up broke off: {}", e.toString());
        }
    }

    private static ApiSettings unseen(ApiSettings settings) {
        var http = HttpSettingsBuilder.builder()
                .host("127.0.0.1")
                .port(0)
                .rootPath("")
                .unixSocket(null)
                .tls(null)
                .apiKey("")
                .adminToken("")
                .allowedHosts(List.of())
                .limits(settings.http().limits())
                .timeouts(settings.http().timeouts())
                .build();
        var sideChannel = settings.sideChannel()
                .map(channel -> new SideChannelSettings("127.0.0.1", 0, channel.peers(), 1, channel.rooms()));
        return settings.with()
                .http(http)
                .firstReplicaPort(OptionalInt.empty())
                .pod(PodNames.NONE)
                .sideChannel(sideChannel)
                .surface(settings.surface().withoutAccessLog())
                .build();
    }

    private static void call(InetSocketAddress server, int number, ApiSettings settings) throws IOException {
        var body = Json.object()
                .put("model", settings.servedModel())
                .put("stream", true)
                .put("max_tokens", 8);
        boolean isChat = number % 2 == 0;
        if (isChat) {
            body.putArray("messages").addObject().put("role", "user").put("content", "Warm up " + number);
        } else {
            body.put("prompt", "Warm up " + number);
        }
        var rooms = settings.sideChannel().map(SideChannelSettings::rooms).orElse(Rooms.NONE);
        if (rooms != Rooms.NONE) {
            body.put("bootstrap_host", RemoteKv.FAKE_HOST).put("bootstrap_room", number);
        } else if (settings.sideChannel().isPresent() && number % CALLS_PER_WORD == 0) {
            // A word to another process, which is this very one, and does not know the call.
            body.putObject("kv_transfer_params")
                    .put("do_remote_prefill", true)
                    .put("remote_engine_id", "warm-up")
                    .put("remote_request_id", "warm-up")
                    .put("remote_host", "127.0.0.1")
                    .put("remote_port", server.getPort())
                    .putArray("remote_block_ids")
                    .add(1);
        }
        send(server, isChat ? "/v1/chat/completions" : "/v1/completions", body);
    }

    /** The one route that all pooling models have. */
    private static void pool(InetSocketAddress server, int number, String model) throws IOException {
        send(server, "/pooling", Json.object().put("model", model).put("input", "Warm up " + number));
    }

    private static void send(InetSocketAddress server, String path, ObjectNode body) throws IOException {
        byte[] bytes = Json.bytes(body);
        String head = "POST " + path
                + " HTTP/1.1\r\nHost: localhost\r\n"
                + "Content-Type: application/json\r\nConnection: close\r\nContent-Length: " + bytes.length + "\r\n\r\n";
        try (var socket = new Socket(server.getAddress(), server.getPort())) {
            socket.setSoTimeout(READ_LIMIT_MILLIS);
            socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
            socket.getOutputStream().write(bytes);
            socket.getInputStream().readAllBytes();
        }
    }
}
