package understudy.api.http;

/** Counts the memory that bodies take, all in all, so that it stays below a limit. Thread-safe. */
final class BodyMemory {
    private final long maxBytes;
    private long numBytes;

    BodyMemory(long maxBytes) {
        this.maxBytes = maxBytes;
    }

    long maxBytes() {
        return maxBytes;
    }

    synchronized long numBytes() {
        return numBytes;
    }

    private synchronized boolean take(long more) {
        // Written so that no sum overflows.
        boolean fits = more <= maxBytes - numBytes;
        if (fits) {
            numBytes += more;
        }
        return fits;
    }

    /** Returns a share that nothing has been taken for yet. */
    Share share() {
        return new Share();
    }

    /** Share of one call. Thread-safe. */
    final class Share implements AutoCloseable {
        private long held;
        private boolean isClosed;

        /** Grows the share to {@code bytes}; does nothing, and returns false, if there is no room for it. */
        synchronized boolean growTo(long bytes) {
            long more = bytes - held;
            if (isClosed || (more > 0 && !take(more))) {
                return false;
            }
            held = Math.max(held, bytes);
            return true;
        }

        /** Gives back the memory above {@code bytes}. */
        synchronized void shrinkTo(long bytes) {
            if (bytes < held) {
                take(bytes - held);
                held = bytes;
            }
        }

        /** Gives everything back; nothing is taken any more. */
        @Override
        public synchronized void close() {
            shrinkTo(0);
            isClosed = true;
        }
    }
}
