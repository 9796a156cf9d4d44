package understudy.cluster.device;

import java.util.Optional;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.jspecify.annotations.Nullable;
import understudy.cluster.VirtualGpu;
import understudy.cluster.lockstep.DataParallelGroup;
import understudy.cluster.lockstep.DataParallelSpec;
import understudy.cluster.lockstep.EarlierStages;
import understudy.engine.speculation.SyntheticDrafts;
import understudy.latency.JitteredLatency;
import understudy.latency.LatencyModel;
import understudy.runtime.Clock;
import understudy.workload.RandomStreams;

/**
 * Makes devices that take as long as a model says.
 *
 * @param sigma standard deviation of the logarithm of a step's time, at least 0; with 0 nothing scatters
 * @param drafts which drafts there are, and which are accepted; null without speculation
 * @param streams a random stream each for noise and for drafts
 * @param dataParallelSize replicas that step together, at least 1
 * @param earlier the stages before the last one, whose time is that of {@code latency}
 */
public record GpuModel(
        LatencyModel latency,
        double sigma,
        SyntheticDrafts.@Nullable Spec drafts,
        RandomStreams streams,
        int dataParallelSize,
        EarlierStages earlier)
        implements VirtualGpu.Factory {

    /** Returns the model of a device without noise and drafts, whose replica steps alone. */
    public static GpuModel of(LatencyModel latency) {
        return new GpuModel(latency, 0, null, new RandomStreams(0), 1, EarlierStages.NONE);
    }

    @Override
    public Behavior<VirtualGpu.Command> create(
            Clock clock, int replicaIndex, @Nullable ActorRef<DataParallelGroup.Command> group) {
        var jittered = sigma == 0 ? null : new JitteredLatency(latency, sigma, streams.stream("jitter", replicaIndex));
        var verifier =
                drafts == null ? null : new SyntheticDrafts(drafts, streams.stream("drafts", replicaIndex)::nextDouble);
        return group == null
                ? ModelledGpu.create(clock, jittered == null ? latency : jittered, verifier, earlier)
                : Behaviors.setup(context -> new GroupedGpu(context, replicaIndex, group, jittered, verifier));
    }

    @Override
    public Optional<DataParallelSpec> dataParallel() {
        return dataParallelSize == 1 ? Optional.empty() : Optional.of(new DataParallelSpec(dataParallelSize, latency));
    }
}
