package understudy.kubernetes;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import com.marcnuri.helm.Helm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/** What {@code conf/kubernetes} describes: objects by kind, rendered from the chart or read from a file. */
final class ChartFixture {
    static final Path FOLDER = Path.of("conf/kubernetes");
    private static final Path CHART = FOLDER.resolve("chart");
    private static final YAMLMapper YAML = new YAMLMapper();
    /** Labels that only a chart gives. */
    private static final Set<String> OF_HELM = Set.of("helm.sh/chart", "app.kubernetes.io/managed-by");

    private ChartFixture() {}

    /** Returns the library, or skips the test where there is none. */
    static Helm helm() {
        assumeTrue(hasHelm(), "there is no library of helm for this platform");
        return new Helm(CHART);
    }

    private static boolean hasHelm() {
        try {
            return !Helm.version().call().isEmpty();
        } catch (LinkageError | IllegalStateException e) {
            return false;
        }
    }

    /** Renders the chart with values in YAML, which a file of this folder holds. */
    static Map<String, JsonNode> render(Path folder, String values) throws IOException {
        var file = Files.writeString(folder.resolve("values.yaml"), values);
        return byKind(
                helm().template().withName("understudy").withValuesFile(file).call());
    }

    static Map<String, JsonNode> plain(String file) throws IOException {
        return byKind(Files.readString(FOLDER.resolve(file)));
    }

    static JsonNode yaml(String file) throws IOException {
        return YAML.readTree(FOLDER.resolve(file).toFile());
    }

    static Map<String, JsonNode> byKind(String text) throws IOException {
        var objects = new LinkedHashMap<String, JsonNode>();
        try (var documents = YAML.readerFor(JsonNode.class).<JsonNode>readValues(text)) {
            while (documents.hasNext()) {
                var object = documents.next();
                objects.put(object.path("kind").asText(), object);
            }
        }
        return objects;
    }

    /** Returns the object as a plain manifest has it. */
    static JsonNode withoutLabelsOfHelm(JsonNode object) {
        var copy = object.deepCopy();
        ((ObjectNode) copy.at("/metadata/labels")).remove(OF_HELM);
        return copy;
    }

    /** Returns the only container of a Deployment. */
    static JsonNode container(JsonNode deployment) {
        return deployment.at("/spec/template/spec/containers/0");
    }
}
