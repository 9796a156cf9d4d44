package understudy.conform.sglang;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import it.unimi.dsi.fastutil.ints.IntSets;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.IntSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import understudy.conform.Conformance;
import understudy.engine.OutputPlan;
import understudy.engine.Request;
import understudy.engine.RequestBuilder;
import understudy.engine.SamplingParams;
import understudy.engine.sglang.SchedulePolicy;
import understudy.engine.sglang.SglangConfig;
import understudy.engine.sglang.SglangConfigBuilder;
import understudy.engine.sglang.SglangRequest;
import understudy.json.Jackson;
import understudy.kvcache.radix.RadixConfig;
import understudy.kvcache.radix.RadixEvictionPolicy;
import understudy.prompt.Prompt;
import understudy.prompt.TokenIds;
import understudy.workload.files.TraceException;
import understudy.workload.files.TraceFile;

/**
 * Workload, and what the real scheduler of SGLang has decided on it, turn by turn.
 *
 * @param name the file, and which workload of it
 * @param config SGLang's arguments by name
 * @param requests in the order of the recording
 * @param steps the fields of each turn, by name
 * @param end state of the scheduler and its memory at the end
 */
public record SglangRecording(
        String name,
        Map<String, Object> config,
        List<RecordedRequest> requests,
        List<Map<String, Object>> steps,
        Map<String, Object> end) {
    private static final int FIRST_OUTPUT_TOKEN = 50_000;
    private static final int EOS = 2;

    /** The context of the recorded model. */
    private static final int MAX_MODEL_LEN = 65_536;

    /**
     * A request.
     *
     * @param fields by name
     */
    public record RecordedRequest(Map<String, Object> fields) {

        String id() {
            return (String) Objects.requireNonNull(fields.get("id"));
        }

        int number(String name) {
            return ((Number) Objects.requireNonNull(fields.get(name), name)).intValue();
        }

        int number(String name, int otherwise) {
            return fields.get(name) instanceof Number number ? number.intValue() : otherwise;
        }

        String text(String name) {
            return fields.get(name) instanceof String text ? text : "";
        }

        @Nullable Long priority() {
            return fields.get("priority") instanceof Number number ? (Long) number.longValue() : null;
        }

        boolean ignoresEos() {
            return Boolean.TRUE.equals(fields.get("ignore_eos"));
        }

        /** Returns how many tokens the verification gives whose first token is the output number {@code first}. */
        int accepted(int first) {
            var counts = (List<?>) Objects.requireNonNull(fields.get("accept"));
            return ((Number) counts.get(first % counts.size())).intValue();
        }

        Request request(int index) {
            var prompt = ((List<?>) Objects.requireNonNull(fields.get("prompt")))
                    .stream().mapToInt(token -> ((Number) token).intValue()).toArray();
            int last = number("eos_after") - 1;
            return RequestBuilder.builder()
                    .id(index)
                    .name(id())
                    .arrivalNanos(index)
                    .prompt(new Prompt(new TokenIds(prompt), "", text("extra_key")))
                    .sampling(new SamplingParams(number("max_new_tokens"), 0, ignoresEos(), IntSets.EMPTY_SET, false))
                    .priority(0)
                    .tenant("")
                    .output(new OutputPlan(output -> output == last ? EOS : FIRST_OUTPUT_TOKEN + output, last + 1))
                    .build();
        }
    }

    /**
     * Returns whether a file of recordings is one of SGLang's, whose settings name a page size.
     *
     * @throws TraceException if it cannot be read
     */
    public static boolean isIn(Path file) {
        try (var json = Jackson.mapper().createParser(TraceFile.open(file))) {
            for (var token = json.nextToken(); token != null; token = json.nextToken()) {
                if (token == JsonToken.FIELD_NAME && json.currentName().equals("config")) {
                    json.nextToken();
                    return json.<JsonNode>readValueAsTree().has("page_size");
                }
            }
            return false;
        } catch (JsonProcessingException e) {
            throw new TraceException(file.toString(), "not JSON: " + e.getOriginalMessage());
        } catch (IOException e) {
            throw new TraceException(file.toString(), "cannot be read: " + e.getMessage());
        }
    }

    /** Returns what distinguishes the workload, in a few words. */
    public String description() {
        var words = new ArrayList<>(List.of(
                requests.size() + " requests",
                number("max_total_tokens") + " tokens in pages of " + number("page_size"),
                String.valueOf(config.get("schedule_policy"))));
        if (is("overlap")) {
            words.add("overlap");
        }
        if (config.get("feature") instanceof String feature) {
            words.add(feature);
        }
        if (!role().isEmpty()) {
            words.add(role());
        }
        return String.join(", ", words);
    }

    /**
     * Reads all workloads of a file.
     *
     * @throws TraceException if it is not a recording
     */
    public static List<SglangRecording> readAll(Path file) {
        var recordings = new ArrayList<SglangRecording>();
        try (MappingIterator<Map<String, Object>> workloads =
                Jackson.mapper().readerFor(Map.class).readValues(TraceFile.open(file))) {
            while (workloads.hasNextValue()) {
                String name = file.getFileName() + " workload " + (recordings.size() + 1);
                recordings.add(of(name, workloads.nextValue()));
            }
        } catch (JsonProcessingException e) {
            throw new TraceException(file.toString(), "not JSON: " + e.getOriginalMessage());
        } catch (IOException e) {
            throw new TraceException(file.toString(), "cannot be read: " + e.getMessage());
        } catch (ClassCastException | NullPointerException e) {
            throw new TraceException(
                    file.toString(), "workload " + (recordings.size() + 1) + " is no recording of SGLang");
        }
        return recordings;
    }

    @SuppressWarnings("unchecked")
    private static SglangRecording of(String name, Map<String, Object> fields) {
        var requests = ((List<Map<String, Object>>) Objects.requireNonNull(fields.get("requests")))
                .stream().map(RecordedRequest::new).toList();
        return new SglangRecording(
                name,
                (Map<String, Object>) Objects.requireNonNull(fields.get("config")),
                requests,
                (List<Map<String, Object>>) Objects.requireNonNull(fields.get("steps")),
                (Map<String, Object>) Objects.requireNonNull(fields.get("end")));
    }

    int number(String name) {
        return ((Number) Objects.requireNonNull(config.get(name), name)).intValue();
    }

    int number(String name, int otherwise) {
        return config.get(name) instanceof Number number ? number.intValue() : otherwise;
    }

    private double real(String name) {
        return ((Number) Objects.requireNonNull(config.get(name), name)).doubleValue();
    }

    boolean is(String name) {
        return Boolean.TRUE.equals(config.get(name));
    }

    private String constant(String name) {
        return ((String) Objects.requireNonNull(config.get(name), name))
                .toUpperCase(Locale.ROOT)
                .replace('-', '_');
    }

    /** Returns the role of disaggregation, or an empty text. */
    String role() {
        return config.get("pd_role") instanceof String role ? role : "";
    }

    boolean hasHost() {
        return config.containsKey("hicache_ratio");
    }

    boolean hasWindow() {
        return config.containsKey("swa_window");
    }

    boolean speculates() {
        return config.containsKey("eagle_num_steps");
    }

    /** Returns the recorded scheduler's settings. */
    public SglangConfig schedulerConfig() {
        return SglangConfigBuilder.builder()
                .schedulePolicy(SchedulePolicy.valueOf(constant("schedule_policy")))
                .overlaps(is("overlap"))
                .chunkedPrefillSize(Math.max(0, number("chunked_prefill_size")))
                .mixesChunks(is("mixed_chunk"))
                .maxPrefillTokens(number("max_prefill_tokens"))
                .prefillMaxRequests(number("prefill_max_requests", 0))
                .maxRunningRequests(number("max_running_requests"))
                .maxModelLen(MAX_MODEL_LEN)
                .scheduleConservativeness(real("schedule_conservativeness"))
                .priorities(new SglangConfig.Priorities(
                        is("priority_scheduling"),
                        is("low_priority_values_first"),
                        !is("disable_priority_preemption"),
                        number("priority_preemption_threshold")))
                .retractsByPriority("priority".equals(config.get("retraction_policy")))
                .estimate(SglangConfig.Estimate.DEFAULT.withDecaySteps(number("new_token_ratio_decay_steps", 600)))
                .queue(SglangConfig.Queue.UNLIMITED)
                .requeuesRefusedPreemption(false)
                .windowEvictionInterval(number("swa_eviction_interval", 128))
                .disaggregation(
                        role().isEmpty()
                                ? null
                                : new SglangConfig.Disaggregation(
                                        role().equals("prefill"),
                                        number("num_reserved_decode_tokens"),
                                        number("decode_polling_interval"),
                                        number("decode_extra_slots"),
                                        number("optimistic_prefill_attempts")))
                .memory(memoryConfig())
                .seed(number("seed"))
                .build();
    }

    private RadixConfig memoryConfig() {
        int pageSize = number("page_size");
        return new RadixConfig(
                pageSize,
                number("max_total_tokens"),
                is("disable_radix_cache"),
                number("chunked_prefill_size") > 0,
                RadixEvictionPolicy.valueOf(constant("radix_eviction_policy")),
                speculates()
                        ? RadixConfig.eagleReserve(
                                pageSize,
                                number("eagle_num_steps"),
                                number("eagle_topk"),
                                number("eagle_num_draft_tokens"))
                        : 0,
                !role().isEmpty(),
                config.containsKey("swa_window")
                        ? new RadixConfig.Window(number("swa_window"), real("swa_full_tokens_ratio"))
                        : null,
                config.containsKey("hicache_ratio")
                        ? new RadixConfig.Hierarchy(
                                (int) (number("max_total_tokens") * real("hicache_ratio")),
                                RadixConfig.WritePolicy.valueOf(constant("hicache_write_policy")),
                                number("hicache_write_turns"),
                                number("hicache_load_turns"),
                                null,
                                null)
                        : null);
    }

    /** Returns the places of the requests in the order in which they arrive. */
    List<Integer> arrivalOrder() {
        return IntStream.range(0, requests.size())
                .boxed()
                .sorted(Comparator.comparingInt(i -> requests.get(i).number("arrival_step")))
                .toList();
    }

    /**
     * Returns what is said of a request besides.
     *
     * @param turn the turn that is being made
     */
    SglangRequest.Options options(int index, IntSupplier turn) {
        var recorded = requests.get(index);
        return new SglangRequest.Options(
                recorded.priority(),
                recorded.text("routing_key"),
                role().isEmpty() ? null : new ScriptedPeer(recorded, turn));
    }

    /** Compares a replay with the recording, up to the first turn that differs. */
    Conformance compare(List<Map<String, Object>> turns, Map<String, Object> actualEnd) {
        for (int i = 0; i < steps.size(); i++) {
            var difference = Difference.first("step " + i + ", ", steps.get(i), turns.get(i));
            if (difference.isPresent()) {
                return new Conformance(steps.size(), i, difference);
            }
        }
        return new Conformance(steps.size(), steps.size(), Difference.first("end, ", end, actualEnd));
    }
}
