package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ServeCommandTest {

    @ParameterizedTest
    @CsvSource({
        "127.0.0.1, false, http://127.0.0.1:8000",
        "::1, true, https://[0:0:0:0:0:0:0:1]:8000",
        // What a socket for all interfaces says of itself on a machine with IPv6.
        "::, false, http://0.0.0.0:8000"
    })
    void url_canBeTyped(String host, boolean hasTls, String url) throws UnknownHostException {
        var address = new InetSocketAddress(InetAddress.getByName(host), 8000);

        assertThat(ServeCommand.url(address, hasTls)).isEqualTo(url);
    }
}
