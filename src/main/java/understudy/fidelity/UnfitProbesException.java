package understudy.fidelity;

/** Probes that have shown too little of a server; the message says how much, and what may help. */
public final class UnfitProbesException extends RuntimeException {

    UnfitProbesException(String message) {
        super(message);
    }
}
