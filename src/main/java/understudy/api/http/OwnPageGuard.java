package understudy.api.http;

import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Guard of the paths that control or show the emulation. Browsers let any page of the web send simple requests to a
 * server on the reader's machine, and a page whose name its owner lets point to that machine (DNS rebinding) even reads
 * the answers. So only the server's own page, and programs that are no browsers, get through; the former shows by
 * {@code Origin} and {@code Sec-Fetch-Site}, which pages cannot set, and the name by {@code Host}.
 */
public final class OwnPageGuard {
    /** Error message for a page of another origin. */
    static final String FOREIGN_PAGE =
            "Of web pages, only this server's own may call /admin, /live and vLLM's paths for developers.";

    private static final String UNKNOWN_HOST =
            "Without server.admin-token, /admin, /live and vLLM's paths for developers ask for the"
                    + " header Host to be localhost, 127.0.0.1, [::1], or one of server.allowed-hosts.";
    private static final Set<String> PATHS = Set.of(
            "admin",
            "live",
            "reset_prefix_cache",
            "get_server_info",
            "flush_cache",
            "abort_request",
            "pause_generation",
            "continue_generation",
            "load_lora_adapter",
            "unload_lora_adapter",
            "sleep",
            "wake_up",
            "is_sleeping",
            "server_info",
            "pause",
            "resume",
            "is_paused",
            "abort_requests",
            "collective_rpc",
            "get_world_size",
            "reset_mm_cache",
            "reset_encoder_cache");

    private static final Set<String> CALLS = Set.of("load_lora_adapter", "unload_lora_adapter");

    /** The last is how Java spells the one before. */
    private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]", "[0:0:0:0:0:0:0:1]");

    private static final Set<String> OWN_FETCH_SITES = Set.of("same-origin", "none");
    private static final String HOST = "[a-z0-9._-]+|\\[[0-9a-f:.]+]";
    private static final Pattern NAME = Pattern.compile(HOST);
    private static final Pattern HOST_AND_PORT = Pattern.compile("(?<host>" + HOST + ")(?::(?<port>\\d{1,5}))?");
    private static final Pattern ORIGIN = Pattern.compile("(?<scheme>https?)://(?<authority>.+)");

    private final String scheme;
    private final boolean isAnyHostFine;
    private final Set<String> hosts;

    /**
     * Creates a guard.
     *
     * @param isTls whether the server speaks TLS
     * @param hasToken whether the server asks for a token, which no page knows whatever its name points to
     * @param moreHosts names of the server beside those of loopback, without ports
     */
    OwnPageGuard(boolean isTls, boolean hasToken, List<String> moreHosts) {
        scheme = isTls ? "https" : "http";
        isAnyHostFine = hasToken;
        hosts = new HashSet<>(LOOPBACK);
        moreHosts.forEach(host -> hosts.add(lowerCase(host)));
    }

    /**
     * Claimed origin of a request: the values of all headers of these names, as they were sent.
     *
     * @param hosts of {@code Host}
     * @param origins of {@code Origin}
     * @param fetchSites of {@code Sec-Fetch-Site}
     */
    record Sender(List<String> hosts, List<String> origins, List<String> fetchSites) {}

    /** Returns whether a text is a host's name or address, IPv6 in brackets, without a port. */
    public static boolean isHost(String text) {
        return NAME.matcher(lowerCase(text)).matches();
    }

    /**
     * Returns whether a path, given by the first of its segments that is not empty, decoded, is for the own page only.
     */
    static boolean guards(String firstSegment) {
        return PATHS.contains(firstSegment);
    }

    /** Returns whether a call below {@code /v1} changes the engine, and so is guarded as well. */
    static boolean guardsCall(String name) {
        return CALLS.contains(name);
    }

    /** Returns why a request to a guarded path is refused, or empty if it is let through. */
    Optional<String> refusal(Sender sender) {
        if (isForeignPage(sender)) {
            return Optional.of(FOREIGN_PAGE);
        }
        if (isAnyHostFine || isKnownHost(sender.hosts())) {
            return Optional.empty();
        }
        return Optional.of(UNKNOWN_HOST);
    }

    /** Returns whether a request comes from a page that is not the server's own. */
    boolean isForeignPage(Sender sender) {
        return !OWN_FETCH_SITES.containsAll(sender.fetchSites())
                || !sender.origins().stream().allMatch(origin -> isOwn(origin, sender));
    }

    private boolean isKnownHost(List<String> given) {
        return given.size() == 1
                && Endpoint.read(given.get(0), scheme)
                        .filter(endpoint -> hosts.contains(endpoint.host()))
                        .isPresent();
    }

    /** A page behind a proxy that speaks TLS for us has another scheme; its browser vouches for it. */
    private boolean isOwn(String origin, Sender sender) {
        var matcher = ORIGIN.matcher(lowerCase(origin));
        if (sender.hosts().size() != 1 || !matcher.matches()) {
            return false;
        }
        String itsScheme = matcher.group("scheme");
        boolean isSameOrigin = sender.fetchSites().equals(List.of("same-origin"));
        var page = Endpoint.read(matcher.group("authority"), itsScheme);
        return (itsScheme.equals(scheme) || isSameOrigin)
                && page.isPresent()
                && page.equals(Endpoint.read(sender.hosts().get(0), itsScheme));
    }

    private static String lowerCase(String text) {
        return text.toLowerCase(Locale.ROOT);
    }

    /** A host, in lower case, and its port. */
    private record Endpoint(String host, int port) {

        /** Reads {@code host} or {@code host:port}; empty if it is anything else. */
        static Optional<Endpoint> read(String text, String scheme) {
            return Optional.of(HOST_AND_PORT.matcher(lowerCase(text)))
                    .filter(Matcher::matches)
                    .map(matcher -> new Endpoint(matcher.group("host"), port(matcher.group("port"), scheme)));
        }

        private static int port(@Nullable String text, String scheme) {
            if (text == null) {
                return scheme.equals("https") ? 443 : 80;
            }
            return Integer.parseInt(text);
        }
    }
}
