package understudy.chaos.fleet;

import java.util.OptionalInt;
import understudy.chaos.proxy.EventInterposer;
import understudy.chaos.proxy.ReplicaFault;
import understudy.faults.ClusterChange;

/**
 * Something that happens to replicas at one time of a scenario.
 *
 * @param atNanos time since the scenario's start; what happens at 0 has happened before the gateway is settled
 * @param name name of the fault, as the scenario has it
 * @param replica replica that it happens to, or empty for all
 * @param action what happens
 */
public record Injection(long atNanos, String name, OptionalInt replica, Action action) {

    /** What happens to a replica. */
    public sealed interface Action {}

    /** A fault on the wire begins. */
    public record Begin(ReplicaFault fault) implements Action {}

    /** A fault on the wire ends. */
    public record End(ReplicaFault.Kind kind) implements Action {}

    /** Which processes of a replica die. */
    public enum Victim {
        /** All: engines crash, connections are reset and refused. */
        ALL,
        /** Of a pair the engine that computes prompts, when one is done and not handed over yet. */
        PREFILL,
        /** Of a pair the engine that answers, when a prompt is done and no token of the answer has come. */
        DECODE
    }

    /** Processes die. */
    public record Crash(Victim victim) implements Action {}

    /** They start again, and the replica is back when they are up. */
    public record Restart(Victim victim) implements Action {}

    /**
     * KV events are passed on otherwise from now on.
     *
     * @param fault what is wrong with them
     * @param delayMillis how late they come, if they come late
     */
    public record Events(EventInterposer.Fault fault, int delayMillis) implements Action {}

    /**
     * A fault of the engine.
     *
     * @param change what the cluster is told
     * @param isEnd whether it ends the fault, rather than to begin it
     */
    public record OfEngine(ClusterChange change, boolean isEnd) implements Action {}
}
