package understudy.sweep;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.typesafe.config.Config;
import com.typesafe.config.ConfigValueType;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import understudy.scenario.ScenarioFile;

/** What results depend on besides the settings of their point: the version, and all of the scenarios. */
final class SweepIdentity {
    private static final int BUFFER_BYTES = 1 << 16;

    private SweepIdentity() {}

    /**
     * Returns the first line of a file of results.
     *
     * @param settings of all points
     */
    static ObjectNode of(String version, ScenarioFile files, List<String> scenarios, Map<String, String> settings)
            throws IOException {
        var header = new ObjectMapper().createObjectNode();
        header.put("version", version);
        for (String scenario : scenarios) {
            header.put(scenario, digest(files.load(scenario, settings)));
        }
        return header;
    }

    /** A trace, a table or a model counts with its content. */
    private static String digest(Config config) throws IOException {
        var digest = sha256();
        digest.update(ScenarioFile.render(config).getBytes(StandardCharsets.UTF_8));
        for (var entry :
                config.entrySet().stream().sorted(Map.Entry.comparingByKey()).toList()) {
            if (entry.getValue().valueType() == ConfigValueType.STRING) {
                addFile(digest, (String) entry.getValue().unwrapped());
            }
        }
        return HexFormat.of().formatHex(digest.digest(), 0, 16);
    }

    private static void addFile(MessageDigest digest, String name) throws IOException {
        try {
            if (name.isEmpty() || !Files.isRegularFile(Path.of(name))) {
                return;
            }
        } catch (InvalidPathException e) {
            return;
        }
        byte[] buffer = new byte[BUFFER_BYTES];
        try (var in = Files.newInputStream(Path.of(name))) {
            for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
                digest.update(buffer, 0, count);
            }
        }
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
