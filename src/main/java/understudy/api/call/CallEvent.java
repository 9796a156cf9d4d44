package understudy.api.call;

import understudy.api.http.ApiException;

/** Event of a call, as its reader gets it. Nothing follows an end: the last piece, a failure or a cut. */
public sealed interface CallEvent {

    /** A replica has the call, or one of its requests; only if tokens must be known when they are sampled. */
    enum Admitted implements CallEvent {
        NOW
    }

    /**
     * The next piece of one of the call's answers.
     *
     * @param isLast whether it completes the last of them
     */
    record Piece(Generation generation, Delta delta, boolean isLast) implements CallEvent {}

    /** The call ends with an error. */
    record Failed(ApiException failure) implements CallEvent {}

    /**
     * The call is cut as if its server had died.
     *
     * @param failure error for a client that has got nothing yet
     * @param isReset whether the connection is to be reset, rather than closed
     */
    record Cut(ApiException failure, boolean isReset) implements CallEvent {}
}
