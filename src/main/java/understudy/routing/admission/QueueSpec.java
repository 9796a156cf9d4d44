package understudy.routing.admission;

/**
 * Specification of the queue in which requests wait for a replica that can take them.
 *
 * @param order which of them goes first
 * @param maxRequests most that wait; 0 for no queue
 * @param maxWaitNanos longest that one waits
 */
public record QueueSpec(Order order, int maxRequests, long maxWaitNanos) {
    /** Order of a queue. */
    public enum Order {
        /** As they have come. */
        FCFS,
        /** Smallest priority number first; equal ones as they have come. */
        PRIORITY,
        /**
         * Smallest priority number first; among equal ones the tenant that has been served least, in prompt tokens
         * (Virtual Token Counter, Sheng et al., OSDI 2024, without its weight for answers, whose length is not known).
         */
        FAIR
    }

    public static final QueueSpec NONE = new QueueSpec(Order.FCFS, 0, 0);
}
