package understudy.report.run;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.report.RequestRecord;

/** Phase of a request between two times: waiting for something, or being served. */
public record RequestPhase(Kind kind, long startNanos, long endNanos) {

    /** Kind of a phase, by the name that people read. */
    public enum Kind {
        /** In the router, or in a replica's waiting queue. */
        QUEUED("queued"),
        /** Its KV is on its way. */
        LOADING("loading"),
        /** From the first admission to the first token. */
        PREFILL("prefill"),
        /** From the first token to the last one; where it was preempted, the wait for the next admission is in it. */
        DECODE("decode");

        private final String word;

        Kind(String word) {
            this.word = word;
        }

        public String word() {
            return word;
        }
    }

    /**
     * Returns the phases of a request that has ended, in order of time, without empty ones.
     *
     * @param leg the same request at the replica that computed its prompt for another one, or null
     * @param loads when KV was on its way to it, in order of time
     */
    public static List<RequestPhase> of(RequestRecord ended, @Nullable RequestRecord leg, List<RequestPhase> loads) {
        var phases = new ArrayList<RequestPhase>();
        long fromNanos = ended.arrivalNanos();
        if (leg != null) {
            addWait(fromNanos, leg.scheduledNanos(), loads, phases);
            add(Kind.PREFILL, leg.scheduledNanos(), leg.endNanos(), phases);
            fromNanos = leg.endNanos();
        }
        addWait(fromNanos, ended.scheduledNanos(), loads, phases);
        add(Kind.PREFILL, Math.max(fromNanos, ended.scheduledNanos()), ended.firstTokenNanos(), phases);
        add(Kind.DECODE, ended.firstTokenNanos(), ended.lastTokenNanos(), phases);
        return phases;
    }

    private static void addWait(long fromNanos, long toNanos, List<RequestPhase> loads, List<RequestPhase> phases) {
        long atNanos = fromNanos;
        for (var load : loads) {
            long startNanos = Math.max(atNanos, load.startNanos);
            long endNanos = Math.min(toNanos, load.endNanos);
            if (startNanos < endNanos) {
                add(Kind.QUEUED, atNanos, startNanos, phases);
                add(Kind.LOADING, startNanos, endNanos, phases);
                atNanos = endNanos;
            }
        }
        add(Kind.QUEUED, atNanos, toNanos, phases);
    }

    private static void add(Kind kind, long startNanos, long endNanos, List<RequestPhase> phases) {
        if (endNanos > startNanos) {
            phases.add(new RequestPhase(kind, startNanos, endNanos));
        }
    }
}
