package understudy.api.call;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Buffer between the writer and the reader of a stream. One thread at a time writes, another reads, and neither waits
 * for the other: a writer too far ahead of the reader is refused, and a reader that has read everything is woken once
 * there is more.
 */
final class StreamBuffer<T> {
    private final int capacity;
    private final ArrayDeque<T> waiting = new ArrayDeque<>();
    private Runnable wake = () -> {};
    private boolean isReaderIdle;
    private boolean hasEnded;
    private @Nullable Throwable failure;

    /** Creates a buffer for at most {@code capacity} elements. */
    StreamBuffer(int capacity) {
        this.capacity = capacity;
    }

    /**
     * Adds an element, which is forgotten if the stream has ended; returns false, and changes nothing, if there is no
     * room.
     */
    boolean offer(T element) {
        Runnable toWake;
        synchronized (this) {
            if (hasEnded) {
                return true;
            }
            if (waiting.size() >= capacity) {
                return false;
            }
            waiting.add(element);
            toWake = takeWake();
        }
        toWake.run();
        return true;
    }

    /** Ends the stream behind the waiting elements. */
    void end() {
        finish(null, null);
    }

    /** Ends the stream with a last element, behind the waiting ones, or in their place if there is no room. */
    void endWith(T last) {
        finish(last, null);
    }

    /** Fails the stream behind the waiting elements. */
    void fail(Throwable why) {
        finish(null, why);
    }

    private void finish(@Nullable T last, @Nullable Throwable why) {
        Runnable toWake;
        synchronized (this) {
            if (hasEnded) {
                return;
            }
            hasEnded = true;
            failure = why;
            if (last != null && waiting.size() >= capacity) {
                waiting.clear();
            }
            if (last != null) {
                waiting.add(last);
            }
            toWake = takeWake();
        }
        toWake.run();
    }

    private Runnable takeWake() {
        boolean wasIdle = isReaderIdle;
        isReaderIdle = false;
        return wasIdle ? wake : () -> {};
    }

    /** Sets the callback for new pieces once a reader has found none; the writer's thread calls it. */
    synchronized void onMore(Runnable toCall) {
        wake = toCall;
    }

    /** Returns the next element, or null if none waits; then the reader is woken when that changes. */
    synchronized @Nullable T poll() {
        var next = waiting.poll();
        isReaderIdle = next == null && !hasEnded;
        return next;
    }

    /** Returns whether nothing follows, not even what has not been read yet. */
    synchronized boolean isExhausted() {
        return hasEnded && waiting.isEmpty();
    }

    /** Returns why the stream failed, or null if it did not. */
    synchronized @Nullable Throwable failure() {
        return failure;
    }
}
