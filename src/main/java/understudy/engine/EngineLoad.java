package understudy.engine;

import java.util.List;
import understudy.engine.lora.AdapterUse;
import understudy.figure.OwnFigure;
import understudy.figure.OwnFigures;

/** Unfinished requests of an engine: how many there are, and where, as its replica reports them. */
public interface EngineLoad {

    /** Returns the number of requests that have not ended. */
    int numUnfinished();

    /** Returns the number of requests that were admitted and have not ended. */
    int numRunning();

    /** Returns a running request, in the order in which they are served. */
    EngineRequest running(int index);

    /** Returns the number of requests that wait to be admitted. */
    int numWaiting();

    /** Returns how many of those that wait could not be admitted when it was their turn. */
    default int numSkipped() {
        return 0;
    }

    /** Returns the prompt tokens that are not computed yet, of all requests; takes time in proportion to their number. */
    long pendingPrefillTokens();

    /** Returns which adapters the requests have; takes time in proportion to their number. */
    default AdapterUse adapterUse() {
        return AdapterUse.NONE;
    }

    /** Returns what only this family of engines has and what changes over a run, as it is now; asked for after each step. */
    default OwnFigures course() {
        return OwnFigures.NONE;
    }

    /** Returns how full queues are that only this family of engines has; asked for if anybody is told of the load. */
    default List<OwnFigure> queues() {
        return List.of();
    }

    /** Returns the exception for an engine that has requests, and nothing for its device to do. */
    default IllegalStateException idleWithWork() {
        return new IllegalStateException("work conservation: the device is idle, but " + numRunning()
                + " requests run and " + numWaiting() + " wait");
    }
}
