package understudy.api.http;

import java.util.Optional;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.NotUsed;
import org.apache.pekko.actor.AbstractExtensionId;
import org.apache.pekko.actor.ExtendedActorSystem;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.event.LoggingAdapter;
import org.apache.pekko.http.javadsl.ServerBinding;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.scaladsl.ConnectionContext;
import org.apache.pekko.http.scaladsl.HttpExt;
import org.apache.pekko.http.scaladsl.settings.ServerSettings;
import org.apache.pekko.japi.Pair;
import org.apache.pekko.stream.SystemMaterializer;
import org.apache.pekko.stream.TLSProtocol;
import org.apache.pekko.stream.TLSProtocol.SslTlsInbound;
import org.apache.pekko.stream.TLSProtocol.SslTlsOutbound;
import org.apache.pekko.stream.javadsl.Flow;
import org.apache.pekko.stream.scaladsl.BidiFlow;
import org.apache.pekko.util.ByteString;
import scala.jdk.javaapi.FutureConverters;

/**
 * Pekko's HTTP server, with a guard between the bytes of a connection and their parser: see {@link RequestFraming}. The
 * library has no place for one, but a method that it calls for each port, which this class overrides.
 */
public final class GuardedHttp extends HttpExt {
    private static final Id ID = new Id();

    private final ExtendedActorSystem system;

    private GuardedHttp(ExtendedActorSystem system) {
        super(system.settings().config().getConfig("pekko.http"), system);
        this.system = system;
    }

    /** Returns that of a system; each system has one, since the library gives its actors fixed names. */
    public static GuardedHttp of(ActorSystem<?> system) {
        return ID.get(system.classicSystem());
    }

    /**
     * Opens a port.
     *
     * @param perConnection answers the requests of one connection
     */
    @SuppressWarnings("unchecked") // requests and responses of both languages are the same objects
    public CompletionStage<ServerBinding> bind(
            String host,
            int port,
            org.apache.pekko.http.javadsl.ConnectionContext context,
            LoggingAdapter log,
            Flow<HttpRequest, HttpResponse, ?> perConnection) {
        var handler = (org.apache.pekko.stream.scaladsl.Flow<
                        org.apache.pekko.http.scaladsl.model.HttpRequest,
                        org.apache.pekko.http.scaladsl.model.HttpResponse,
                        Object>)
                (Object) perConnection.asScala();
        var bound = bindAndHandleImpl(
                handler,
                host,
                port,
                (ConnectionContext) context,
                (ServerSettings) org.apache.pekko.http.javadsl.settings.ServerSettings.create(system),
                log,
                SystemMaterializer.get(system).materializer());
        return FutureConverters.asJava(bound).thenApply(ServerBinding::new);
    }

    /** Below this there are bytes of the network, above it those of HTTP, decrypted. */
    @Override
    public BidiFlow<SslTlsOutbound, ByteString, ByteString, SslTlsInbound, NotUsed> sslTlsServerStage(
            ConnectionContext context) {
        var inbound = Flow.<SslTlsInbound>create()
                .statefulMap(
                        RequestFraming::new,
                        (framing, part) -> Pair.create(framing, guarded(framing, part)),
                        framing -> Optional.empty());
        var guard = org.apache.pekko.stream.javadsl.BidiFlow.fromFlows(Flow.<SslTlsOutbound>create(), inbound);
        org.apache.pekko.stream.javadsl.BidiFlow<SslTlsOutbound, ByteString, ByteString, SslTlsInbound, NotUsed> tls =
                super.sslTlsServerStage(context).asJava();
        return guard.atop(tls).asScala();
    }

    @SuppressWarnings("ReferenceEquality") // what was changed is another object
    private static SslTlsInbound guarded(RequestFraming framing, SslTlsInbound part) {
        if (part instanceof TLSProtocol.SessionBytes received) {
            var checked = framing.check(received.bytes());
            return checked == received.bytes() ? part : new TLSProtocol.SessionBytes(received.session(), checked);
        }
        return part;
    }

    /** Key of the extension. */
    private static final class Id extends AbstractExtensionId<GuardedHttp> {
        @Override
        public GuardedHttp createExtension(ExtendedActorSystem system) {
            return new GuardedHttp(system);
        }
    }
}
