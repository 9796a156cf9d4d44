package understudy.api.sglang;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import understudy.api.http.ApiException;
import understudy.prompt.TokenIds;

/**
 * Sessions whose requests go on behind the tokens of earlier ones (SGLang {@code session/session_controller.py}). Beside
 * SGLang's rules there are bounds on sessions and on the tokens that they hold. Thread-safe.
 */
final class TokenSessions {
    private static final int MAX_SESSIONS = 10_000;

    /** Tokens of all requests of all sessions: 64 MB. */
    private static final long MAX_TOKENS = 1 << 24;

    private final LongSupplier nanoClock;
    private final Consumer<String> abort;
    private final Map<String, Session> byId = new LinkedHashMap<>();
    private long numTokens;

    /** A request of a session. */
    final class Turn {
        private final Session session;
        private final String rid;
        private final TokenIds input;
        private final List<Turn> later = new ArrayList<>();
        private int[] output = new int[0];
        private boolean hasEnded;

        private Turn(Session session, String rid, TokenIds input) {
            this.session = session;
            this.rid = rid;
            this.input = input;
        }

        /** Returns all tokens of its prompt. */
        TokenIds input() {
            return input;
        }

        /**
         * Records its end, if that is not known yet; later requests may go on behind it.
         *
         * @param isComplete whether it was not given up
         */
        void end(int[] tokens, boolean isComplete) {
            TokenSessions.this.end(this, tokens, isComplete);
        }

        /** Forgets it: it was refused before it began. */
        void drop() {
            synchronized (TokenSessions.this) {
                forget(this);
                session.byRid.values().forEach(turn -> turn.later.remove(this));
                session.isBusy = false;
            }
        }

        private int numTokens() {
            return input.length() + output.length;
        }
    }

    private static final class Session {
        private final boolean isStreaming;
        private final long timeoutNanos;
        private final Map<String, Turn> byRid = new HashMap<>();
        private long usedNanos;
        private boolean isBusy;

        Session(boolean isStreaming, long timeoutNanos, long nowNanos) {
            this.isStreaming = isStreaming;
            this.timeoutNanos = timeoutNanos;
            usedNanos = nowNanos;
        }
    }

    /**
     * Creates no session yet.
     *
     * @param nanoClock virtual time, in which sessions time out
     * @param abort has the engine end the request of a name
     */
    TokenSessions(LongSupplier nanoClock, Consumer<String> abort) {
        this.nanoClock = nanoClock;
        this.abort = abort;
    }

    /**
     * Opens a session.
     *
     * @param isStreaming whether each request goes on behind the one before it, and only the last one is kept
     * @param timeoutNanos after how long without a request it closes by itself, or {@link Long#MAX_VALUE}
     * @return false if it is open already, or there are too many
     */
    synchronized boolean open(String id, boolean isStreaming, long timeoutNanos) {
        closeIdle();
        if (byId.containsKey(id) || byId.size() >= MAX_SESSIONS) {
            return false;
        }
        byId.put(id, new Session(isStreaming, timeoutNanos, nanoClock.getAsLong()));
        return true;
    }

    /** Closes a session, if it is open; its requests go on. */
    synchronized void close(String id) {
        forgetAll(byId.remove(id));
    }

    private void closeIdle() {
        long now = nanoClock.getAsLong();
        byId.values().removeIf(session -> {
            boolean isIdle = now - session.usedNanos > session.timeoutNanos;
            if (isIdle) {
                forgetAll(session);
            }
            return isIdle;
        });
    }

    private void forgetAll(@Nullable Session session) {
        if (session != null) {
            List.copyOf(session.byRid.values()).forEach(this::forget);
        }
    }

    private void forget(Turn turn) {
        if (turn.session.byRid.remove(turn.rid, turn)) {
            numTokens -= turn.numTokens();
        }
    }

    /**
     * Begins a request, and returns it with all of its tokens.
     *
     * @param rid its name
     * @param own the tokens that it came with
     */
    synchronized Turn begin(SessionParams params, String rid, TokenIds own) {
        closeIdle();
        var session = byId.get(params.id());
        if (session == null) {
            throw invalid("Invalid request: session id " + params.id() + " does not exist");
        }
        var last = session.isStreaming ? lastOfStream(session, params) : last(session, params);
        var input = last == null ? own : joined(last, params, own);
        if (numTokens + input.length() > MAX_TOKENS) {
            throw invalid("The sessions of this server hold " + numTokens + " tokens already; close some of them.");
        }
        session.usedNanos = nanoClock.getAsLong();
        var turn = new Turn(session, rid, input);
        if (session.isStreaming) {
            session.isBusy = true;
        } else {
            if (last != null) {
                last.later.add(turn);
            }
            keep(turn);
        }
        return turn;
    }

    private void keep(Turn turn) {
        var before = turn.session.byRid.put(turn.rid, turn);
        numTokens += turn.numTokens() - (before == null ? 0 : before.numTokens());
    }

    private static @Nullable Turn lastOfStream(Session session, SessionParams params) {
        if (session.isBusy) {
            throw invalid("Streaming session already has an active request.");
        }
        if (params.replaces()) {
            throw invalid("Streaming sessions do not support replace.");
        }
        if (params.dropsOutput()) {
            throw invalid("Streaming sessions do not support drop_previous_output.");
        }
        if (params.offset() != 0) {
            throw invalid("Streaming sessions do not support offset.");
        }
        return session.byRid.values().stream().findFirst().orElse(null);
    }

    private @Nullable Turn last(Session session, SessionParams params) {
        if (params.rid() == null) {
            if (params.replaces()) {
                session.byRid.values().forEach(this::abort);
                forgetAll(session);
            }
            return null;
        }
        var last = session.byRid.get(params.rid());
        if (last == null) {
            throw invalid("Invalid request session id");
        }
        if (params.replaces()) {
            abort(last);
            last.later.forEach(this::giveUp);
            last.later.clear();
        } else if (!last.hasEnded) {
            throw invalid("Session request is appending to a request that hasn't finished.");
        }
        return last;
    }

    private void giveUp(Turn turn) {
        turn.later.forEach(this::giveUp);
        abort(turn);
        forget(turn);
    }

    private void abort(Turn turn) {
        if (!turn.hasEnded) {
            abort.accept(turn.rid);
        }
    }

    private static TokenIds joined(Turn last, SessionParams params, TokenIds own) {
        int[] output = params.dropsOutput() ? new int[0] : last.output;
        int length = last.input.length() + output.length;
        int kept = params.offset() == 0 ? length : Math.min(length, params.offset());
        kept = kept < 0 ? Math.max(0, length + kept) : kept;
        int[] all = new int[kept + own.length()];
        last.input.copy(0, Math.min(kept, last.input.length()), all, 0);
        int ofOutput = Math.max(0, kept - last.input.length());
        System.arraycopy(output, 0, all, kept - ofOutput, ofOutput);
        own.copy(0, own.length(), all, kept);
        return new TokenIds(all);
    }

    private synchronized void end(Turn turn, int[] tokens, boolean isComplete) {
        if (turn.hasEnded) {
            return;
        }
        turn.hasEnded = true;
        var session = turn.session;
        session.isBusy = false;
        if (session.isStreaming) {
            if (isComplete && byId.containsValue(session)) {
                forgetAll(session);
                turn.output = tokens;
                keep(turn);
            }
        } else if (session.byRid.get(turn.rid) == turn) {
            turn.output = tokens;
            numTokens += tokens.length;
        }
    }

    private static ApiException invalid(String message) {
        return ApiException.badRequest(message, null);
    }
}
