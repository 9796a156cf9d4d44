package understudy.sweep.remote;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import understudy.settings.ScenarioException;

/**
 * Address of a machine, as others name it.
 *
 * @param port 0 is any that is free
 */
public record HostPort(String host, int port) {
    private static final Pattern TEXT = Pattern.compile("(\\[[0-9a-fA-F:.]+]|[^:\\s]+):([0-9]{1,5})");
    private static final int MAX_PORT = 65_535;

    /**
     * Reads {@code HOST:PORT}.
     *
     * @throws ScenarioException if it is something else
     */
    public static HostPort parse(String text) {
        var parts = TEXT.matcher(text);
        if (!parts.matches() || Integer.parseInt(parts.group(2)) > MAX_PORT) {
            throw new ScenarioException(text + " is not an address; it must be HOST:PORT");
        }
        return new HostPort(parts.group(1), Integer.parseInt(parts.group(2)));
    }

    /** Returns whether only this machine can reach it. A name that is not known yet is of another machine. */
    public boolean isLoopback() {
        try {
            return InetAddress.getByName(host).isLoopbackAddress();
        } catch (UnknownHostException e) {
            return false;
        }
    }

    static String join(List<HostPort> addresses) {
        return addresses.stream().map(HostPort::toString).collect(Collectors.joining(" or "));
    }

    @Override
    public String toString() {
        return host + ":" + port;
    }
}
