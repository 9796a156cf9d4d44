package understudy.chaos.gateway;

import java.net.URI;

/**
 * A gateway that somebody else has started, and that goes on behind the kit.
 *
 * @param address address that clients call
 */
public record RunningGateway(URI address) implements GatewayUnderTest {
    @Override
    public String name() {
        return address.toString();
    }

    @Override
    public Running start(Setup setup) {
        return new Running() {
            @Override
            public URI uri() {
                return address;
            }

            @Override
            public boolean isAlive() {
                return true;
            }

            @Override
            public void close() {
                // It is not the kit's to end.
            }
        };
    }
}
