package understudy.sweep;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Collection;
import java.util.HexFormat;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import understudy.settings.ScenarioException;

/** Files that settings name, such as traces, tables and models: results depend on what is in them. */
public final class InputFiles {
    private static final int BUFFER_BYTES = 1 << 16;
    private static final int DIGEST_BYTES = 16;
    private static final String MISSING = " is missing on this machine, and the sweep reads it";
    private static final String DIFFERS = " has another content on this machine than where the sweep was started";

    private InputFiles() {}

    /** Returns a digest of each of the texts that is the name of a file. */
    static SortedMap<String, String> digests(Collection<String> names) throws IOException {
        var digests = new TreeMap<String, String>();
        for (String name : names) {
            var digest = sha256();
            if (!digests.containsKey(name) && add(digest, name)) {
                digests.put(name, hex(digest));
            }
        }
        return digests;
    }

    /**
     * Compares this machine's files with those of another one.
     *
     * @param digests by name
     * @return message for the user about the first file that differs; empty if none does
     */
    public static Optional<String> difference(Map<String, String> digests) {
        try {
            var here = digests(digests.keySet());
            return digests.keySet().stream()
                    .filter(name -> !Objects.equals(digests.get(name), here.get(name)))
                    .findFirst()
                    .map(name -> Path.of(name).toAbsolutePath() + (here.containsKey(name) ? DIFFERS : MISSING));
        } catch (IOException e) {
            throw new ScenarioException("a file that the sweep reads cannot be read: " + e.getMessage());
        }
    }

    /** Adds the content of a file, and returns whether there is one. */
    static boolean add(MessageDigest digest, String name) throws IOException {
        try {
            if (name.isEmpty() || !Files.isRegularFile(Path.of(name))) {
                return false;
            }
        } catch (InvalidPathException e) {
            return false;
        }
        byte[] buffer = new byte[BUFFER_BYTES];
        try (var in = Files.newInputStream(Path.of(name))) {
            for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
                digest.update(buffer, 0, count);
            }
        }
        return true;
    }

    static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    static String hex(MessageDigest digest) {
        return HexFormat.of().formatHex(digest.digest(), 0, DIGEST_BYTES);
    }
}
