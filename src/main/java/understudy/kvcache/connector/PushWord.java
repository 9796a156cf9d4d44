package understudy.kvcache.connector;

/**
 * Word of an engine about the KV of a request that one replica computes and sends to another one, page by page, as soon as
 * that has places for it. An engine that reads has a {@link KvConnector} in its memory instead, which decides about blocks;
 * here the engines themselves decide when to announce and when to send, and the memories only carry it out.
 *
 * @param numPages of the piece; 0 for a word that is about no piece
 */
public record PushWord(Kind kind, long requestId, int numPages) {

    /** Kind of a word. */
    public enum Kind {
        /** The request is in a queue of the engine, and waits for the other one. */
        QUEUED,
        /** The engine that decodes has places for the KV. */
        PLACES,
        /** The engine that computes the prompt sends pages, and more will follow. */
        PIECE,
        /** It sends the last pages. */
        LAST_PIECE
    }
}
