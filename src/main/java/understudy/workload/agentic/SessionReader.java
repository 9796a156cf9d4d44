package understudy.workload.agentic;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.exc.InputCoercionException;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import understudy.json.Jackson;
import understudy.workload.files.TraceException;
import understudy.workload.files.TraceFile;

/**
 * Reads a session as <a href="https://github.com/callanjfox/kv-cache-tester">kv-cache-tester</a> has them: {@code
 * {block_size, hash_id_scope, tool_tokens, system_tokens, requests}}, and of each request {@code {t, type, in, out,
 * hash_ids, think_time, api_time}}, times in seconds, one hash id for every block of the prompt; of type {@code subagent}
 * {@code {t, type, requests}}. Prompt tokens behind the last id are the request's own. All other fields are passed over.
 */
final class SessionReader {
    private static final int USUAL_BLOCK_SIZE = 64;
    private static final int MAX_TOKENS = 100_000_000;
    private static final int MAX_DEPTH = 16;
    private static final double MAX_SECONDS = 1e8;

    private final SessionText text;
    private final JsonParser parser;
    private int blockSize = USUAL_BLOCK_SIZE;
    private boolean isGlobal;
    private boolean hasRequests;

    private SessionReader(SessionText text, JsonParser parser) {
        this.text = text;
        this.parser = parser;
    }

    /**
     * Reads a session.
     *
     * @throws TraceException if it cannot be used
     */
    static AgenticSession read(SessionText text) {
        try (var parser = Jackson.FACTORY.createParser(text.in())) {
            return new SessionReader(text, parser).session();
        } catch (InputCoercionException e) {
            throw new TraceException(text.file(), lineOf(text, e), "a number is out of range");
        } catch (JsonProcessingException e) {
            throw new TraceException(text.file(), lineOf(text, e), "is no JSON: " + firstLine(e.getOriginalMessage()));
        } catch (IOException e) {
            throw TraceFile.unreadable(text.file(), e);
        }
    }

    private static long lineOf(SessionText text, JsonProcessingException e) {
        return text.line() - 1 + (e.getLocation() == null ? 1 : e.getLocation().getLineNr());
    }

    private static String firstLine(String message) {
        return message.lines().findFirst().orElse("");
    }

    private TraceException problem(String problem) {
        return new TraceException(
                text.file(), text.line() - 1 + parser.currentTokenLocation().getLineNr(), problem);
    }

    private AgenticSession session() throws IOException {
        if (parser.nextToken() != JsonToken.START_OBJECT) {
            throw problem("a session must be a JSON object");
        }
        var agent = new BranchBuilder(null);
        int numSystemTokens = 0;
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            var name = parser.currentName();
            parser.nextToken();
            switch (name) {
                case "block_size" -> blockSize = blockSize();
                case "hash_id_scope" -> isGlobal = "global".equals(parser.getText());
                case "tool_tokens", "system_tokens" -> numSystemTokens += wholeNumber(name, 0);
                case "requests" -> readRequests(agent, 0);
                default -> parser.skipChildren();
            }
        }
        agent.setNumSystemTokens(numSystemTokens);
        return finished(agent);
    }

    private AgenticSession finished(BranchBuilder agent) throws IOException {
        if (parser.nextToken() != null) {
            throw problem("something follows the session; name a file of one session per line .jsonl");
        }
        var session = new AgenticSession(blockSize, isGlobal, agent.build());
        if (session.numTurns() == 0) {
            throw problem(
                    hasRequests ? "the session has no requests" : "there is no field requests: is this a session?");
        }
        return session;
    }

    private int blockSize() throws IOException {
        if (hasRequests) {
            throw problem("block_size must come before requests");
        }
        return wholeNumber("block_size", 1);
    }

    private void readRequests(BranchBuilder branch, int depth) throws IOException {
        hasRequests = true;
        if (depth > MAX_DEPTH || parser.currentToken() != JsonToken.START_ARRAY) {
            throw problem("requests must be an array, and sub-agents at most " + MAX_DEPTH + " deep");
        }
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            if (parser.currentToken() != JsonToken.START_OBJECT) {
                throw problem("requests must be objects");
            }
            new Entry(branch, depth).read();
        }
    }

    private void readIds(LongArrayList ids) throws IOException {
        ids.clear();
        if (parser.currentToken() != JsonToken.START_ARRAY) {
            throw problem("hash_ids must be an array of whole numbers");
        }
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            if (parser.currentToken() != JsonToken.VALUE_NUMBER_INT) {
                throw problem("hash_ids must be an array of whole numbers");
            }
            ids.add(parser.getLongValue());
        }
    }

    private int wholeNumber(String name, int min) throws IOException {
        boolean isNone = parser.currentToken() == JsonToken.VALUE_NULL && min == 0;
        if (!isNone && parser.currentToken() != JsonToken.VALUE_NUMBER_INT) {
            throw problem(name + " must be a whole number");
        }
        long value = isNone ? 0 : parser.getLongValue();
        if (value < min || value > MAX_TOKENS) {
            throw problem(name + " must be from " + min + " to " + MAX_TOKENS + ", not " + value);
        }
        return (int) value;
    }

    /** Returns a time, or NaN if there is none. */
    private double seconds(String name, double min) throws IOException {
        if (parser.currentToken() == JsonToken.VALUE_NULL) {
            return Double.NaN;
        }
        double value = parser.currentToken().isNumeric() ? parser.getDoubleValue() : Double.NaN;
        if (!(value >= min && value <= MAX_SECONDS)) {
            throw problem(name + " must be a number of seconds from " + min + " to " + MAX_SECONDS);
        }
        return value;
    }

    /** Returns how long something took, or NaN if that is not known; clocks that differ make it negative. */
    private double durationSeconds(String name) throws IOException {
        return Math.max(0, seconds(name, -MAX_SECONDS));
    }

    /** An element of requests: a request, or a sub-agent. */
    private final class Entry {
        private final BranchBuilder branch;
        private final int depth;
        private double atSeconds = Double.NaN;
        private double apiSeconds;
        private double thinkSeconds = Double.NaN;
        private int numPromptTokens;
        private int numOutputTokens;
        private int numSystemTokens;
        private boolean isSubAgent;
        private @Nullable BranchBuilder subAgent;

        Entry(BranchBuilder branch, int depth) {
            this.branch = branch;
            this.depth = depth;
        }

        void read() throws IOException {
            while (parser.nextToken() != JsonToken.END_OBJECT) {
                var name = parser.currentName();
                parser.nextToken();
                readField(name);
            }
            if (Double.isNaN(atSeconds)) {
                throw problem("a request must have a time, t");
            }
            add();
        }

        private void readField(String name) throws IOException {
            switch (name) {
                case "t" -> atSeconds = seconds(name, 0);
                case "type" -> isSubAgent = "subagent".equals(parser.getText());
                case "in" -> numPromptTokens = wholeNumber(name, 1);
                case "out" -> numOutputTokens = wholeNumber(name, 0);
                case "hash_ids" -> readIds(branch.ids());
                case "think_time" -> thinkSeconds = durationSeconds(name);
                case "api_time" -> apiSeconds = durationSeconds(name);
                case "tool_tokens", "system_tokens" -> numSystemTokens += wholeNumber(name, 0);
                case "requests" -> {
                    subAgent = new BranchBuilder(branch);
                    readRequests(subAgent, depth + 1);
                }
                default -> parser.skipChildren();
            }
        }

        private void add() {
            if (subAgent != null) {
                subAgent.setNumSystemTokens(numSystemTokens);
                branch.add(subAgent, atSeconds);
            } else if (!isSubAgent) {
                addTurn();
            }
        }

        private void addTurn() {
            if (numPromptTokens < 1) {
                throw problem("a request must have in, the tokens of its prompt");
            }
            var ids = branch.ids();
            int maxIds = (numPromptTokens + blockSize - 1) / blockSize;
            ids.size(Math.min(ids.size(), maxIds));
            int numFull = Math.min(ids.size(), numPromptTokens / blockSize);
            branch.add(
                    atSeconds,
                    Double.isNaN(apiSeconds) ? 0 : apiSeconds,
                    thinkSeconds,
                    numPromptTokens,
                    Math.max(1, numOutputTokens),
                    numFull);
        }
    }
}
