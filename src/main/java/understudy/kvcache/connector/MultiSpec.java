package understudy.kvcache.connector;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Several connectors of one replica (vLLM {@code MultiConnector}).
 *
 * @param specs in the order in which they are asked; the first that has anything brings it
 */
public record MultiSpec(List<ConnectorSpec> specs) implements ConnectorSpec {
    /** Copies the list. */
    public MultiSpec {
        specs = List.copyOf(specs);
    }

    @Override
    public KvConnector create(int blockSize, boolean enablePrefixCaching) {
        return new MultiConnector(specs.stream()
                .map(spec -> spec.create(blockSize, enablePrefixCaching))
                .toList());
    }

    @Override
    public boolean requiresKvDelivery() {
        return specs.stream().anyMatch(ConnectorSpec::requiresKvDelivery);
    }

    @Override
    public boolean defersFrees() {
        return specs.stream().anyMatch(ConnectorSpec::defersFrees);
    }

    @Override
    public Set<KvSource> sources() {
        return specs.stream().flatMap(spec -> spec.sources().stream()).collect(Collectors.toUnmodifiableSet());
    }

    @Override
    public boolean readsPlans() {
        return specs.stream().anyMatch(ConnectorSpec::readsPlans);
    }
}
