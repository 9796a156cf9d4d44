package understudy.fidelity.probe;

import java.util.List;

/** A server that answers probes. */
public interface ProbedServer {

    /**
     * Sends the requests of a probe when they are due, and waits for the answers.
     *
     * @return the answers in the order of the requests; empty if there is no time left
     */
    List<ProbedAnswer> answers(Probe probe) throws InterruptedException;
}
