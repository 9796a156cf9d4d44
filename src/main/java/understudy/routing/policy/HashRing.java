package understudy.routing.policy;

import com.dynatrace.hash4j.hashing.Hasher64;
import com.dynatrace.hash4j.hashing.Hashing;
import it.unimi.dsi.fastutil.ints.IntCollection;
import it.unimi.dsi.fastutil.longs.Long2IntAVLTreeMap;
import java.util.OptionalInt;
import understudy.routing.ClusterView;

/**
 * Hash ring on which each replica has {@value #POINTS_PER_REPLICA} points, so that a replica that joins takes over its
 * share of the keys, and all other keys stay where they are.
 *
 * <p>As in SMG, whose points are BLAKE3 digests of the workers' addresses; here they are XXH3 hashes of their indices.
 */
final class HashRing {
    private static final int POINTS_PER_REPLICA = 150;
    private static final Hasher64 XXH3 = Hashing.xxh3_64();

    private final Long2IntAVLTreeMap replicaByPoint = new Long2IntAVLTreeMap();
    private int numReplicas;

    /** Returns the replica of a key: the next one on the ring that takes requests; there must be one. */
    int find(String key, ClusterView view) {
        for (; numReplicas < view.numReplicas(); numReplicas++) {
            add(numReplicas);
        }
        long point = XXH3.hashCharsToLong(key);
        return firstReady(replicaByPoint.tailMap(point).values(), view)
                .orElseGet(() -> firstReady(replicaByPoint.values(), view).orElseThrow());
    }

    private void add(int replica) {
        for (int i = 0; i < POINTS_PER_REPLICA; i++) {
            replicaByPoint.put(XXH3.hashCharsToLong(replica + "#" + i), replica);
        }
    }

    private static OptionalInt firstReady(IntCollection replicas, ClusterView view) {
        return replicas.intStream().filter(view::isReady).findFirst();
    }
}
