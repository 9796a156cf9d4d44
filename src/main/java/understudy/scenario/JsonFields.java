package understudy.scenario;

import com.fasterxml.jackson.databind.JsonNode;
import understudy.settings.ScenarioException;

/** Fields of a JSON object that may go by several names; what is wrong with one is reported with the file. */
record JsonFields(String file, JsonNode json) {
    private static final int MAX = 100_000_000;

    ScenarioException problem(String what) {
        return new ScenarioException(file + ": " + what);
    }

    /** Returns a text, or an empty one; further names lead into objects. */
    String text(String... path) {
        var node = json;
        for (String name : path) {
            node = node.path(name);
        }
        return node.asText("");
    }

    boolean bool(String name, boolean otherwise) {
        return json.path(name).asBoolean(otherwise);
    }

    /** Returns the first of the fields that is there and not null, which must be at least 1. */
    int positive(String... names) {
        int number = number(0, names);
        if (number < 1) {
            throw new ScenarioException(file + ": " + names[0] + " is missing, must be from 1 to " + MAX);
        }
        return number;
    }

    /** Returns the first of the fields that is there and not null, or {@code otherwise}. */
    int number(int otherwise, String... names) {
        for (String name : names) {
            var value = json.path(name);
            if (value.isMissingNode() || value.isNull()) {
                continue;
            }
            double number = value.isNumber() ? value.asDouble() : Double.NaN;
            if (!(number >= 0 && number <= MAX && number == Math.rint(number))) {
                throw new ScenarioException(
                        file + ": " + name + " is " + value + ", must be a whole number from 0 to " + MAX);
            }
            return (int) number;
        }
        return otherwise;
    }

    /** Returns how often a text is among so many first entries of a list, or -1 without the list. */
    int count(String name, String text, int numEntries) {
        var list = json.path(name);
        if (!list.isArray()) {
            return -1;
        }
        int count = 0;
        for (int i = 0; i < Math.min(numEntries, list.size()); i++) {
            count += list.get(i).asText().equals(text) ? 1 : 0;
        }
        return count;
    }

    /** Returns the length of a list, or -1 without it. */
    int size(String name) {
        return json.path(name).isArray() ? json.path(name).size() : -1;
    }
}
