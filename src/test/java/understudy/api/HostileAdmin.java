package understudy.api;

import java.util.List;
import org.apache.commons.rng.UniformRandomProvider;

/** Orders to the cluster that make no sense: none of them may be obeyed. */
final class HostileAdmin {
    private static final List<String> PATHS = List.of(
            "/admin",
            "/admin/",
            "/admin/status/",
            "/admin//status",
            "/admin/nothing",
            "/admin/replicas/-1/crash",
            "/admin/replicas/99/crash",
            "/admin/replicas/99999999999999999999/crash",
            "/admin/replicas/0x0/crash",
            "/admin/replicas/0/crash/",
            "/admin/replicas/0/explode",
            "/admin/replicas/0/restart",
            "/admin/replicas/0/slow-gpu",
            "/admin/replicas/0/%63rash%00",
            "/admin/replicas/",
            "/admin/clock/run",
            "/admin/clock/run?speed=",
            "/admin/clock/run?speed=0",
            "/admin/clock/run?speed=-0.0",
            "/admin/clock/run?speed=-1",
            "/admin/clock/run?speed=NaN",
            "/admin/clock/run?speed=-1e400",
            "/admin/clock/run?speed=fast",
            "/admin/clock/run?speed=%00",
            "/admin/clock/advance",
            "/admin/clock/advance?by=",
            "/admin/clock/advance?by=-1s",
            "/admin/clock/advance?by=1",
            "/admin/clock/advance?by=1d",
            "/admin/clock/advance?by=NaNs",
            "/admin/clock/advance?by=1e400s",
            "/admin/clock/advance?by=Infinityh",
            "/admin/clock/advance?by=PT1S",
            "/admin/clock/stop",
            "/reset_prefix_cache?reset_running_requests=maybe",
            "/reset_prefix_cache/",
            "/sleep?level=9",
            "/sleep?level=",
            "/sleep?mode=%00",
            "/wake_up?tags=weights&tags=%ff");
    private static final List<String> KINDS = List.of(
            "add",
            "crash",
            "restart",
            "drain",
            "resume",
            "remove",
            "slow-gpu",
            "shrink-kv",
            "error-rate",
            "error-sequence",
            "cut-streams",
            "malform-streams",
            "latency-spike",
            "explode");

    /** With any of these beside it, a fault is none: a key that no kind has, or a value that none takes. */
    private static final List<String> MISTAKES = List.of(
            "\"unknown\": 1",
            "\"replica\": -1",
            "\"replica\": 1e400",
            "\"replica\": 99999999999",
            "\"replica\": \"all\"",
            "\"replica\": 0.5",
            "\"replica\": null",
            "\"replica\": {}",
            "\"for\": \"-1s\"",
            "\"for\": \"1e400s\"",
            "\"for\": 5",
            "\"for\": \"NaN\"",
            "\"at\": \"1s\"",
            "\"do\": \"explode\"",
            "\"do\": 5",
            "\"do\": null");

    private static final List<String> VALUES = List.of(
            "\"factor\": 0",
            "\"factor\": 1e400",
            "\"factor\": \"NaN\"",
            "\"factor\": 2",
            "\"num-gpu-blocks\": -1",
            "\"num-gpu-blocks\": 99999999999",
            "\"rate\": 2",
            "\"rate\": -1e400",
            "\"count\": -1",
            "\"after-tokens\": 0",
            "\"at-token\": 1e9",
            "\"delay\": \"-1s\"",
            "\"delay\": \"1e400s\"");

    /** Durations that no clock can hold. */
    private static final List<String> OVERFLOWING_DURATIONS =
            List.of("99999999999h", "9999999h", "2562048h", "2562047h", "9".repeat(400) + "s");

    private final UniformRandomProvider random;

    HostileAdmin(UniformRandomProvider random) {
        this.random = random;
    }

    HostileRequest next() {
        return switch (random.nextInt(6)) {
            case 0 ->
                HostileRequest.post(
                        "/admin/faults", pick(List.of("", "[]", "5", "{", "{}", "\"crash\"", "{\"do\": []}")));
            case 1, 2 -> HostileRequest.post("/admin/faults", fault());
            case 3 -> HostileRequest.get(pick(PATHS));
            default -> HostileRequest.post(pick(PATHS), "");
        };
    }

    private String fault() {
        // Of two fields with one name the last one counts.
        return "{\"do\": \"" + pick(KINDS) + "\", " + pick(VALUES) + ", " + pick(VALUES) + ", " + pick(MISTAKES) + "}";
    }

    HostileRequest overflow() {
        String duration = pick(OVERFLOWING_DURATIONS);
        return switch (random.nextInt(4)) {
            case 0 -> HostileRequest.post("/admin/clock/advance?by=" + duration, "");
            case 1 ->
                HostileRequest.post(
                        "/admin/faults",
                        "{\"do\": \"slow-gpu\", \"replica\": 0, \"factor\": 2, \"for\": \"" + duration + "\"}");
            case 2 ->
                HostileRequest.post(
                        "/admin/faults", "{\"do\": \"crash\", \"replica\": 0, \"for\": \"" + duration + "\"}");
            default ->
                HostileRequest.post("/admin/faults", "{\"do\": \"latency-spike\", \"delay\": \"" + duration + "\"}");
        };
    }

    private <T> T pick(List<T> list) {
        return list.get(random.nextInt(list.size()));
    }
}
