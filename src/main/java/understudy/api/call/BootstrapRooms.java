package understudy.api.call;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.math.BigInteger;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import understudy.api.http.ApiException;
import understudy.api.http.JsonBody;
import understudy.kvcache.connector.KvTransferParams;
import understudy.kvcache.connector.RemoteKv;
import understudy.routing.Role;

/**
 * Rooms in which the prompts of a call meet their other halves: the fields that SGLang's router adds to a call, one value for
 * all prompts or a list with one for each ({@code managers/io_struct.py}, {@code _normalize_bootstrap_params}).
 *
 * @param room numbers, or null if none was sent
 * @param host of the process that computes the prompts, or null
 * @param port its port, or null
 */
public record BootstrapRooms(
        @Nullable JsonNode room,
        @Nullable JsonNode host,
        @Nullable JsonNode port) {
    private static final BootstrapRooms NONE = new BootstrapRooms(null, null, null);
    private static final String ROOM = "bootstrap_room";
    private static final String HOST = "bootstrap_host";
    private static final String PORT = "bootstrap_port";
    private static final Set<String> FIELDS = Set.of(ROOM, HOST, PORT);
    private static final int MAX_PORT = 65_535;

    static BootstrapRooms read(JsonBody body) {
        return FIELDS.stream().allMatch(field -> body.get(field) == null)
                ? NONE
                : new BootstrapRooms(body.get(ROOM), body.get(HOST), body.get(PORT));
    }

    /** Adds the fields of a call to another one that is made of it. */
    public static void copy(JsonBody from, ObjectNode to) {
        for (String field : FIELDS) {
            if (from.get(field) != null) {
                to.set(field, from.get(field));
            }
        }
    }

    /**
     * Returns the words of an answer to the engine.
     *
     * @param role of the replicas behind the port, of which each has the same
     * @param prompt which of the call, from 0
     * @param choice which answer of the call, from 0
     * @param numTokens of the prompt
     * @param usualPort for when none is named
     * @throws ApiException if there is no room, or a field makes no sense
     */
    public KvTransferParams of(Role role, int prompt, int choice, int numTokens, int usualPort) {
        if (room == null) {
            throw ApiException.badRequest(
                    "Invalid request: Disaggregated request received without bootstrap room id.", null);
        }
        long number = number(room, ROOM, prompt, Long.MAX_VALUE);
        // Numbers of one room that is sent for all count up.
        var meeting =
                RemoteKv.room(room.isArray() ? number : number + choice, hostOf(prompt), portOf(prompt, usualPort));
        return role == Role.PREFILL
                ? KvTransferParams.outsideDecode(meeting)
                : KvTransferParams.outsidePrefill(meeting, numTokens);
    }

    private String hostOf(int prompt) {
        var value = host == null ? null : element(host, HOST, prompt);
        if (value != null && !value.isTextual() && !value.isNull()) {
            throw ApiException.invalid("Input should be a valid string", "body." + HOST);
        }
        return value == null || value.isNull() ? "None" : value.textValue();
    }

    private int portOf(int prompt, int usualPort) {
        return port == null || element(port, PORT, prompt).isNull()
                ? usualPort
                : (int) number(port, PORT, prompt, MAX_PORT);
    }

    private static JsonNode element(JsonNode values, String field, int prompt) {
        if (!values.isArray()) {
            return values;
        }
        if (prompt >= values.size()) {
            throw ApiException.badRequest(
                    "The length of " + field + " should be equal to the number of prompts.", field);
        }
        return values.get(prompt);
    }

    private static long number(JsonNode values, String field, int prompt, long max) {
        var value = element(values, field, prompt);
        boolean isGood = value.isIntegralNumber()
                && value.bigIntegerValue().signum() >= 0
                && value.bigIntegerValue().compareTo(BigInteger.valueOf(max)) <= 0;
        if (!isGood) {
            throw ApiException.invalid("Input should be a valid integer", "body." + field);
        }
        return value.longValue();
    }
}
