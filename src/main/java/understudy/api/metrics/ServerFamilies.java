package understudy.api.metrics;

import understudy.cluster.ReplicaSpec;

/** Metric families of one kind of server, in which each of its replicas has series. */
interface ServerFamilies {
    /** A server that shows no metrics. */
    ServerFamilies NONE = new ServerFamilies() {
        @Override
        public ReplicaSeries show(int index, ReplicaSpec replica) {
            return ReplicaSeries.NONE;
        }

        @Override
        public void forget(int index) {}
    };

    /** Shows the series of a replica that begins to count. */
    ReplicaSeries show(int index, ReplicaSpec replica);

    /** Removes the series of a replica. */
    void forget(int index);
}
