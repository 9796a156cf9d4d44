package understudy.adopt;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import understudy.adopt.MetricsPage.Sample;
import understudy.json.Jackson;
import understudy.settings.ScenarioException;

/** Answer of {@code /api/v1/query_range} of Prometheus: a matrix of series over time. */
final class PrometheusRange {
    private PrometheusRange() {}

    /**
     * Returns the series as scrapes, one at each time of the answer.
     *
     * @throws ScenarioException if it is no such answer, or has nothing in it
     */
    static List<Scrape> read(String name, String text) {
        if (Sources.isHtml(text)) {
            throw new ScenarioException(name + ": a web page (HTML), not an answer of Prometheus; is it behind another"
                    + " path, or a login?");
        }
        var samples = new TreeMap<Double, List<Sample>>();
        for (var series : matrix(name, text)) {
            var labels = new LinkedHashMap<String, String>();
            series.path("metric")
                    .properties()
                    .forEach(
                            label -> labels.put(label.getKey(), label.getValue().asText()));
            String metric = labels.remove("__name__");
            if (metric == null) {
                throw new ScenarioException(
                        name + ": has a series without __name__, as of rate(...): query the counters"
                                + " as they are, such as {__name__=~\"vllm:.*\"}");
            }
            for (var value : series.path("values")) {
                samples.computeIfAbsent(value.path(0).asDouble(), time -> new ArrayList<>())
                        .add(new Sample(
                                metric, Map.copyOf(labels), value.path(1).asDouble(Double.NaN)));
            }
        }
        if (samples.size() < 2) {
            throw new ScenarioException(
                    name + ": has series of " + samples.size() + " times, of which two are needed; is"
                            + " the range too short, or is nothing of vLLM or SGLang in it?");
        }
        var scrapes = new ArrayList<Scrape>();
        samples.forEach((time, at) -> scrapes.add(new Scrape(time, new MetricsPage(name, List.copyOf(at)))));
        return scrapes;
    }

    private static JsonNode matrix(String name, String text) {
        try {
            var answer = Jackson.mapper().readTree(text);
            if (answer.path("status").asText().equals("error")) {
                throw new ScenarioException(
                        name + ": Prometheus answers: " + answer.path("error").asText());
            }
            var data = answer.path("data");
            if (!data.path("resultType").asText().equals("matrix")) {
                throw new ScenarioException(name + ": no answer of Prometheus' query_range: its data.resultType is \""
                        + data.path("resultType").asText() + "\", not matrix");
            }
            return data.path("result");
        } catch (JsonProcessingException e) {
            throw new ScenarioException(name + ": neither a page of metrics nor JSON of Prometheus");
        }
    }
}
