package understudy.kvcache;

/**
 * End of an engine that has admitted more than its KV memory holds, where the real one dies, too. It is no defect of the
 * emulator; the message is the engine's.
 */
public final class KvOutOfMemoryException extends IllegalStateException {
    public KvOutOfMemoryException(String message) {
        super(message);
    }
}
