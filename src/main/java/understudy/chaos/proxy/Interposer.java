package understudy.chaos.proxy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import understudy.chaos.proxy.ReplicaFault.Kind;
import understudy.chaos.tls.ReplicaCertificates;
import understudy.chaos.tls.ReplicaCertificates.Leaf;
import understudy.chaos.wire.Wire;

/**
 * The port at which a gateway finds a replica. It forwards each request to the replica's engine, and does to the answer
 * what the faults want that are set. Any thread may use it.
 */
public final class Interposer implements AutoCloseable {
    /** Connections beyond these are closed at once; a gateway that needs more of them has a leak. */
    private static final int MAX_CONNECTIONS = 512;

    private static final int BACKLOG = 256;
    private static final long JOIN_MILLIS = 2000;

    private final String name;
    private final AtomicLong connectionNumbers;
    private final @Nullable ReplicaCertificates certificates;
    private final int port;
    private final CountDownLatch isClosing = new CountDownLatch(1);
    private final Set<ReplicaConnection> connections = ConcurrentHashMap.newKeySet();
    private final Map<Kind, Active> faults = new EnumMap<>(Kind.class);
    private @Nullable ServerSocket listener;
    private @Nullable Thread acceptor;
    private volatile InetSocketAddress engine = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
    private volatile @Nullable PrefillLeg prefill;
    private volatile AttemptLog log;

    /** A fault, how many generations it has seen, and the first text of {@code /metrics} since it began. */
    private record Active(ReplicaFault fault, AtomicInteger numSeen, AtomicReference<String> metrics) {
        Active(ReplicaFault fault) {
            this(fault, new AtomicInteger(), new AtomicReference<>());
        }
    }

    /**
     * Opens a port.
     *
     * @param name name of the replica
     * @param port port of 127.0.0.1, or 0 for one that is free
     * @param connectionNumbers numbers of connections, which replicas share
     * @param certificates what it shows, if it speaks TLS; else null
     * @throws IOException if the port cannot be had
     */
    public Interposer(
            String name,
            int port,
            AtomicLong connectionNumbers,
            @Nullable ReplicaCertificates certificates,
            AttemptLog log)
            throws IOException {
        this.name = name;
        this.connectionNumbers = connectionNumbers;
        this.certificates = certificates;
        this.log = log;
        this.port = listen(port);
    }

    private synchronized int listen(int wanted) throws IOException {
        var socket = new ServerSocket();
        try {
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), wanted), BACKLOG);
        } catch (IOException e) {
            socket.close();
            throw new IOException("port " + wanted + " for " + name + " cannot be had: " + e.getMessage(), e);
        }
        listener = socket;
        var thread = new Thread(() -> accept(socket), "chaos-accept-" + name);
        thread.setDaemon(true);
        thread.start();
        acceptor = thread;
        return socket.getLocalPort();
    }

    private void accept(ServerSocket socket) {
        while (!socket.isClosed()) {
            try {
                take(socket.accept());
            } catch (IOException e) {
                // It has been closed, or the gateway has left before it was accepted.
            }
        }
    }

    private void take(Socket socket) throws IOException {
        if (connections.size() >= MAX_CONNECTIONS || isClosing.getCount() == 0) {
            socket.close();
            return;
        }
        var shown = certificates;
        var leaf = leaf();
        var wire = shown == null ? new Wire(socket) : new Wire(tls(shown.context(leaf), socket), socket);
        boolean hasBadCertificate = shown != null && !leaf.isValid();
        var connection = new ReplicaConnection(this, wire, connectionNumbers.incrementAndGet(), hasBadCertificate);
        connections.add(connection);
        var thread = new Thread(
                () -> {
                    try {
                        connection.run();
                    } finally {
                        connections.remove(connection);
                    }
                },
                "chaos-replica-" + name);
        thread.setDaemon(true);
        thread.start();
    }

    /** The handshake comes with the first bytes that are read. */
    private static Socket tls(SSLContext context, Socket socket) throws IOException {
        return context.getSocketFactory().createSocket(socket, null, true);
    }

    /** Returns the certificate with which a connection begins now. */
    private Leaf leaf() {
        if (fault(Kind.EXPIRED_CERTIFICATE).isPresent()) {
            return Leaf.EXPIRED;
        }
        if (fault(Kind.MISNAMED_CERTIFICATE).isPresent()) {
            return Leaf.MISNAMED;
        }
        if (fault(Kind.SELF_SIGNED_CERTIFICATE).isPresent()) {
            return Leaf.SELF_SIGNED;
        }
        return fault(Kind.RENEWED_CERTIFICATE).isPresent() ? Leaf.RENEWED : Leaf.FIRST;
    }

    /** Returns the name of the replica. */
    public String name() {
        return name;
    }

    /** Returns the port at which gateways find the replica. */
    public int port() {
        return port;
    }

    /** Forwards to another engine from the next request on. */
    public void forwardTo(InetSocketAddress address) {
        engine = address;
    }

    InetSocketAddress engine() {
        return engine;
    }

    /** Has another engine compute the prompts from the next request on; null for none. */
    public void prefillBy(@Nullable PrefillLeg leg) {
        prefill = leg;
    }

    /** Returns the way to the engine that computes the prompts, if the replica is a pair of engines. */
    @Nullable PrefillLeg prefill() {
        return prefill;
    }

    /** Records attempts elsewhere from the next request on. */
    public void recordIn(AttemptLog attempts) {
        log = attempts;
    }

    AttemptLog log() {
        return log;
    }

    /** Begins a fault; one of the same kind ends. */
    public void begin(ReplicaFault fault) {
        synchronized (faults) {
            faults.put(fault.kind(), new Active(fault));
        }
        if (fault.kind() == Kind.REFUSE) {
            refuse();
        }
    }

    /** Ends a fault. */
    public void end(Kind kind) throws IOException {
        synchronized (faults) {
            faults.remove(kind);
        }
        if (kind == Kind.REFUSE) {
            listenAgain();
        }
    }

    /** Ends all faults, so that the replica is as at the start. */
    public void endAll() throws IOException {
        synchronized (faults) {
            faults.clear();
        }
        listenAgain();
    }

    /** Dies as a process does: connections are reset, and new ones refused. */
    public void refuse() {
        stopListening();
        connections.forEach(ReplicaConnection::kill);
    }

    /** Accepts connections again, at the same port. */
    public synchronized void listenAgain() throws IOException {
        if (listener == null && isClosing.getCount() > 0) {
            listen(port);
        }
    }

    private synchronized void stopListening() {
        if (listener != null) {
            try {
                listener.close();
            } catch (IOException e) {
                // Then it does not listen, which is what is wanted.
            }
            listener = null;
        }
        awaitAcceptor();
    }

    /** The system refuses connections only when no thread waits for them any more. */
    private void awaitAcceptor() {
        var thread = acceptor;
        if (thread != null) {
            try {
                thread.join(JOIN_MILLIS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Returns a fault that is set now. */
    Optional<ReplicaFault> fault(Kind kind) {
        synchronized (faults) {
            return Optional.ofNullable(faults.get(kind)).map(Active::fault);
        }
    }

    /** Returns the first of the kinds whose turn it is for a new generation. */
    Optional<ReplicaFault> strike(Kind... kinds) {
        synchronized (faults) {
            for (var kind : kinds) {
                var active = faults.get(kind);
                if (active != null && active.numSeen.getAndIncrement() % active.fault.every() == 0) {
                    return Optional.of(active.fault);
                }
            }
            return Optional.empty();
        }
    }

    /** Returns the text of {@code /metrics} from when a fault began, if it is set; {@code now} if none was read since. */
    Optional<String> metricsAtBegin(Kind kind, String now) {
        synchronized (faults) {
            return Optional.ofNullable(faults.get(kind)).map(active -> {
                active.metrics.compareAndSet(null, now);
                return active.metrics.get();
            });
        }
    }

    /** Waits, but not beyond the end of the kit. */
    void pause(long millis) throws IOException {
        try {
            if (isClosing.await(millis, TimeUnit.MILLISECONDS)) {
                throw new IOException("the kit ends");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    /** Returns whether any fault is set. */
    public boolean hasFault() {
        synchronized (faults) {
            return !faults.isEmpty();
        }
    }

    /** Resets the connections on which a request has not ended. */
    public void dropBusyConnections() {
        connections.stream().filter(ReplicaConnection::isBusy).forEach(ReplicaConnection::kill);
    }

    /** Returns how many connections of the gateway are open. */
    public int numOpen() {
        return connections.size();
    }

    /** Returns how many generations have not ended. */
    public int numInFlight() {
        return (int)
                connections.stream().filter(ReplicaConnection::isGenerating).count();
    }

    @Override
    public void close() {
        isClosing.countDown();
        stopListening();
        connections.forEach(ReplicaConnection::kill);
    }
}
