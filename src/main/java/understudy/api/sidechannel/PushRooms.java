package understudy.api.sidechannel;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import understudy.cluster.sidechannel.SideChannel;
import understudy.runtime.VirtualTime;

/**
 * Rooms in which requests whose prompts are computed here meet their other halves in other processes. Either half may come
 * first; what the other process says reaches the memory of the replica that has the request.
 */
public final class PushRooms {
    /** Most rooms with one half, which is that of another process: any client could ask for any number of them. */
    private static final int MAX_VISITORS = 16_384;

    /** Longest wait for the KV of a room; whoever has the request gives up by itself much earlier. */
    static final Duration LIMIT = Duration.ofHours(1);

    private final VirtualTime<?> time;
    private final Map<String, Room> rooms = new HashMap<>();

    private static final class Room {
        SideChannel.@Nullable Host host;

        /** The answer that the other process waits for, if it has places. */
        @Nullable CompletableFuture<SideChannel.State> places;
    }

    /** Creates it without rooms; what is passed on comes at the virtual time of the wall clock. */
    public PushRooms(VirtualTime<?> time) {
        this.time = time;
    }

    /** A request here computes the prompt of a room. */
    synchronized void host(SideChannel.Host host) {
        var room = rooms.computeIfAbsent(host.room(), name -> new Room());
        room.host = host;
        if (room.places != null) {
            pass(host, SideChannel.Word.PLACES);
        }
    }

    /** It has sent all KV, or will not. */
    synchronized void settle(SideChannel.Settle settle) {
        var room = rooms.get(settle.room());
        if (room == null || room.host == null || room.host.requestId() != settle.requestId()) {
            return;
        }
        rooms.remove(settle.room());
        if (room.places != null) {
            room.places.complete(settle.isSent() ? SideChannel.State.KEPT : SideChannel.State.GIVEN_UP);
        }
    }

    /** Another process says something about a room; returns the answer, which to {@code PLACES} may be long in coming. */
    synchronized CompletionStage<SideChannel.State> hear(SideChannel.Word word, String name) {
        var room = rooms.get(name);
        if (word == SideChannel.Word.GONE) {
            leave(room);
            return CompletableFuture.completedFuture(SideChannel.State.KEPT);
        }
        boolean isRefused = word != SideChannel.Word.PLACES
                || (room == null && rooms.size() >= MAX_VISITORS)
                || (room != null && room.places != null);
        if (isRefused) {
            return CompletableFuture.completedFuture(SideChannel.State.GIVEN_UP);
        }
        var entered = rooms.computeIfAbsent(name, any -> new Room());
        var places = new CompletableFuture<SideChannel.State>();
        entered.places = places;
        if (entered.host != null) {
            pass(entered.host, word);
        }
        return places.completeOnTimeout(SideChannel.State.GIVEN_UP, LIMIT.toMinutes(), TimeUnit.MINUTES)
                .whenComplete((state, error) -> forgetVisitor(name, places));
    }

    private void leave(@Nullable Room room) {
        if (room == null) {
            return;
        }
        if (room.host != null) {
            pass(room.host, SideChannel.Word.GONE);
        } else if (room.places != null) {
            room.places.complete(SideChannel.State.GIVEN_UP);
        }
    }

    private synchronized void forgetVisitor(String name, CompletableFuture<SideChannel.State> places) {
        var room = rooms.get(name);
        if (room != null && room.places == places && room.host == null) {
            rooms.remove(name);
        }
    }

    private void pass(SideChannel.Host host, SideChannel.Word word) {
        time.post(() -> host.replyTo().tell(new SideChannel.Asked(word, host.requestId())));
    }
}
