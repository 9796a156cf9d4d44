package understudy.api.call;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Processes that may be asked for KV. A call names the address of the one that has it, so without a list any client
 * could have requests sent to any service that this machine reaches.
 */
public final class SideChannelPeers {
    private static final Pattern COMMA = Pattern.compile("\\s*,\\s*");
    private static final Pattern NETWORK = Pattern.compile("(?<address>[0-9a-fA-F.:]+)/(?<bits>\\d{1,3})");
    private static final Pattern HOST = Pattern.compile("(?<host>[\\w.-]+|\\[[0-9a-fA-F:.]+])(?::(?<port>\\d{1,5}))?");
    private static final int ANY_PORT = 0;

    /** Bits that addresses of one cluster have in common, of IPv4 and of IPv6. */
    private static final int CLUSTER_BITS = 16;

    private static final int CLUSTER_BITS_OF_IPV6 = 64;

    private final boolean isAnybody;
    private final boolean isThisMachine;
    private final List<Network> networks = new ArrayList<>();
    private final List<Named> named = new ArrayList<>();

    private record Named(String host, int port) {}

    private static final class Network {
        private final byte[] address;
        private final int numBits;

        Network(byte[] address, int numBits) {
            this.address = address;
            this.numBits = numBits;
        }

        boolean has(byte[] other) {
            if (other.length != address.length) {
                return false;
            }
            for (int bit = 0; bit < numBits; bit++) {
                int mask = 0x80 >> (bit % Byte.SIZE);
                if (((address[bit / Byte.SIZE] ^ other[bit / Byte.SIZE]) & mask) != 0) {
                    return false;
                }
            }
            return true;
        }
    }

    private SideChannelPeers(boolean isAnybody, boolean isThisMachine) {
        this.isAnybody = isAnybody;
        this.isThisMachine = isThisMachine;
    }

    /**
     * Reads a list.
     *
     * @param ownHost address that other processes are told
     * @return empty if it is none
     */
    public static Optional<SideChannelPeers> read(String text, String ownHost) {
        if (text.equals("*")) {
            return Optional.of(new SideChannelPeers(true, false));
        }
        if (text.equals("auto")) {
            return Optional.of(around(ownHost));
        }
        var peers = new SideChannelPeers(false, false);
        return COMMA.splitAsStream(text.strip()).allMatch(peers::add) ? Optional.of(peers) : Optional.empty();
    }

    private static SideChannelPeers around(String ownHost) {
        var own = address(ownHost);
        var peers = new SideChannelPeers(false, own.isPresent() && own.get().isLoopbackAddress());
        peers.named.add(new Named(name(ownHost), ANY_PORT));
        own.filter(address -> !address.isLoopbackAddress()).ifPresent(address -> {
            byte[] bytes = address.getAddress();
            boolean isIpv6 = bytes.length > 4;
            peers.networks.add(new Network(bytes, bytes.length * Byte.SIZE));
            if (isPrivate(address)) {
                peers.networks.add(new Network(bytes, isIpv6 ? CLUSTER_BITS_OF_IPV6 : CLUSTER_BITS));
            }
        });
        return peers;
    }

    /** Networks of one's own: RFC 1918, unique local addresses of IPv6, and what clouds use for pods (RFC 6598). */
    private static boolean isPrivate(InetAddress address) {
        byte[] bytes = address.getAddress();
        boolean isUniqueLocal = bytes.length > 4 && (bytes[0] & 0xfe) == 0xfc;
        boolean isShared = bytes.length == 4 && (bytes[0] & 0xff) == 100 && (bytes[1] & 0xc0) == 64;
        return address.isSiteLocalAddress() || isUniqueLocal || isShared;
    }

    private boolean add(String entry) {
        var network = NETWORK.matcher(entry);
        if (network.matches()) {
            var address = address(network.group("address"));
            int numBits = Integer.parseInt(network.group("bits"));
            boolean isOne = address.isPresent() && numBits <= address.get().getAddress().length * Byte.SIZE;
            if (isOne) {
                networks.add(new Network(address.get().getAddress(), numBits));
            }
            return isOne;
        }
        var host = HOST.matcher(entry);
        if (host.matches()) {
            String port = host.group("port");
            named.add(new Named(name(host.group("host")), port == null ? ANY_PORT : Integer.parseInt(port)));
            return true;
        }
        return false;
    }

    /**
     * Returns the address to ask, or empty if it is none of the peers, or not known. The name is not to be looked up
     * again: it may mean another address then.
     */
    public Optional<InetAddress> find(String host, int port) {
        boolean isNamed = named.stream().anyMatch(each -> each.host.equals(name(host)) && isPort(each, port));
        // Of others only addresses are known: to look up any name that a client sends would be a request, too.
        boolean isWorthLookingUp =
                isNamed || isAnybody || isLiteral(host) || name(host).equals("localhost");
        return isWorthLookingUp
                ? address(host).filter(address -> isNamed || isAnybody || isPeer(address, port))
                : Optional.empty();
    }

    private boolean isPeer(InetAddress address, int port) {
        return (isThisMachine && address.isLoopbackAddress())
                || networks.stream().anyMatch(network -> network.has(address.getAddress()))
                || named.stream()
                        .anyMatch(each -> isLiteral(each.host)
                                && isPort(each, port)
                                && address(each.host).filter(address::equals).isPresent());
    }

    private static boolean isPort(Named peer, int port) {
        return peer.port == ANY_PORT || peer.port == port;
    }

    private static boolean isLiteral(String host) {
        return host.indexOf(':') >= 0 || host.chars().allMatch(c -> c == '.' || (c >= '0' && c <= '9'));
    }

    private static String name(String host) {
        String lowerCase = host.toLowerCase(Locale.ROOT);
        return lowerCase.startsWith("[") && lowerCase.endsWith("]")
                ? lowerCase.substring(1, lowerCase.length() - 1)
                : lowerCase;
    }

    private static Optional<InetAddress> address(String host) {
        try {
            return host.isEmpty() ? Optional.empty() : Optional.of(InetAddress.getByName(host));
        } catch (UnknownHostException e) {
            return Optional.empty();
        }
    }
}
