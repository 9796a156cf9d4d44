package understudy.conform;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.ObjectMapper;
import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.ints.IntList;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import understudy.workload.trace.TraceException;
import understudy.workload.trace.TraceFile;

/** Reads a JSON list of recorded runs, gzip'd or not, one run at a time. */
public final class RecordedRunReader implements Closeable {
    private static final double REQUESTS_PER_SECOND = 1_000;

    private final String file;
    private final MappingIterator<JsonNode> runs;
    private int numRead;

    /** Opens a file. */
    public RecordedRunReader(Path path) {
        file = path.toString();
        try {
            runs = new ObjectMapper().readerFor(JsonNode.class).readValues(TraceFile.open(path));
        } catch (IOException e) {
            throw notJson(e);
        }
    }

    /**
     * Returns the next run, or null at the end.
     *
     * @throws TraceException if it is not a recording
     */
    public @Nullable RecordedRun next() {
        try {
            if (!runs.hasNextValue()) {
                return null;
            }
            numRead++;
            return run(new Node(runs.nextValue(), "workload " + numRead));
        } catch (IOException e) {
            throw notJson(e);
        }
    }

    @Override
    public void close() {
        try {
            runs.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private TraceException notJson(IOException e) {
        String message = e instanceof JsonProcessingException json ? json.getOriginalMessage() : e.getMessage();
        return new TraceException(file, "not JSON: " + message);
    }

    private RecordedRun run(Node run) {
        var config = run.get("config");
        var requests = run.get("requests").list(this::request);
        var ids = new HashSet<String>();
        for (var request : requests) {
            if (!ids.add(request.id())) {
                throw run.get("requests").problem("has " + request.id() + " twice");
            }
        }
        return new RecordedRun(config(config), requests, run.get("steps").list(this::step), end(run.get("end")));
    }

    private RecordedRun.Config config(Node config) {
        String policy = config.get("policy").text();
        if (!policy.equals("fcfs") && !policy.equals("priority")) {
            throw config.get("policy").unusable("fcfs or priority");
        }
        return new RecordedRun.Config(
                config.get("num_blocks").number(2),
                config.get("block_size").number(1),
                config.get("max_num_batched_tokens").number(1),
                config.get("max_num_seqs").number(1),
                config.get("max_model_len").number(2),
                config.get("long_prefill_token_threshold").number(0),
                policy.equals("priority"),
                config.get("prefix_caching").bool(),
                config.get("chunked_prefill").bool(),
                config.get("async").bool());
    }

    /** vLLM's {@code arrival_time} of a recording is its step, and a thousandth for each request before it. */
    private RecordedRun.RecordedRequest request(Node request) {
        String id = request.get("id").text();
        int arrivalStep = request.get("arrival_step").number(0);
        int index;
        try {
            index = Integer.parseInt(id.substring(1));
        } catch (IndexOutOfBoundsException | NumberFormatException e) {
            throw request.get("id").unusable("a letter and a number, such as r07");
        }
        var prompt = request.get("prompt").numbers();
        if (prompt.isEmpty()) {
            throw request.get("prompt").unusable("a list of at least one token id");
        }
        return new RecordedRun.RecordedRequest(
                id,
                prompt,
                request.get("max_tokens").number(1),
                request.get("priority").number(Integer.MIN_VALUE),
                arrivalStep,
                arrivalStep + index / REQUESTS_PER_SECOND);
    }

    private StepDecision step(Node step) {
        return new StepDecision(
                step.get("scheduled").map(node -> node.number(1)),
                step.get("preempted").list(Node::text),
                step.get("new").list(Node::text),
                step.get("resumed").list(Node::text),
                step.get("running").list(Node::text),
                step.get("tables").map(Node::numbers),
                step.get("free_blocks").number(0),
                step.get("stored").number(0),
                step.get("removed").number(0),
                step.get("finished").list(Node::text));
    }

    private RecordedRun.End end(Node end) {
        return new RecordedRun.End(
                end.get("free_order").numbers(),
                end.get("preemptions").number(0),
                end.get("queries").number(0),
                end.get("hits").number(0),
                end.get("preempted_queries").number(0),
                end.get("preempted_hits").number(0));
    }

    /** A part of the file, which knows where it stands. */
    private final class Node {
        private final JsonNode json;
        private final String path;

        Node(JsonNode json, String path) {
            this.json = json;
            this.path = path;
        }

        Node get(String name) {
            var child = json.get(name);
            if (child == null) {
                throw new TraceException(file, path + " has no field " + name);
            }
            return new Node(child, path + "." + name);
        }

        String text() {
            if (!json.isTextual()) {
                throw unusable("a text");
            }
            return json.textValue();
        }

        boolean bool() {
            if (!json.isBoolean()) {
                throw unusable("true or false");
            }
            return json.booleanValue();
        }

        int number(int min) {
            if (!json.canConvertToInt() || !json.isIntegralNumber() || json.intValue() < min) {
                throw unusable("a whole number of at least " + min);
            }
            return json.intValue();
        }

        /** Recordings are mostly such lists, so nothing is made for an element that is right. */
        IntList numbers() {
            if (!json.isArray()) {
                throw unusable("a list");
            }
            var numbers = new IntArrayList(json.size());
            for (int i = 0; i < json.size(); i++) {
                var number = json.get(i);
                if (!number.isInt() || number.intValue() < 0) {
                    throw new Node(number, path + "[" + i + "]").unusable("a whole number of at least 0");
                }
                numbers.add(number.intValue());
            }
            return numbers;
        }

        <T> List<T> list(Function<Node, T> element) {
            if (!json.isArray()) {
                throw unusable("a list");
            }
            var list = new ArrayList<T>(json.size());
            for (int i = 0; i < json.size(); i++) {
                list.add(element.apply(new Node(json.get(i), path + "[" + i + "]")));
            }
            return list;
        }

        <T> Map<String, T> map(Function<Node, T> element) {
            if (!json.isObject()) {
                throw unusable("an object");
            }
            var map = new LinkedHashMap<String, T>();
            for (var entry : json.properties()) {
                map.put(entry.getKey(), element.apply(new Node(entry.getValue(), path + "." + entry.getKey())));
            }
            return map;
        }

        TraceException problem(String what) {
            return new TraceException(file, path + " " + what);
        }

        TraceException unusable(String allowed) {
            String shown = json.toString();
            String cut = shown.length() > 60 ? shown.substring(0, 60) + "..." : shown;
            return new TraceException(file, path + " is " + cut + ", must be " + allowed);
        }
    }
}
