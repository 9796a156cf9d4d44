package understudy.sweep.remote;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import understudy.settings.ScenarioException;

/**
 * Secret that the machines of a sweep share where there is no TLS. It signs what makes one of them work or believe, and
 * is never sent itself, so a process that listens at the driver's port while there is no driver learns nothing of use.
 */
public final class Secret {
    private static final String ALGORITHM = "HmacSHA256";
    private static final int NUM_BYTES = 32;

    /** Secret of machines that TLS tells from strangers: nothing is signed, and nothing is checked. */
    static final Secret NONE = new Secret(new byte[0]);

    private final byte[] key;

    private Secret(byte[] key) {
        this.key = key;
    }

    /** Returns the file in the home directory that is used unless another one is named. */
    public static Path usualFile() {
        return Path.of(System.getProperty("user.home"), ".config", "understudy", "sweep-secret");
    }

    /**
     * Reads the secret of a file.
     *
     * @throws ScenarioException if it cannot be read, or is empty
     */
    public static Secret read(Path file) {
        try {
            String text = Files.readString(file).strip();
            if (text.isEmpty()) {
                throw new ScenarioException("--secret-file " + file + " is empty");
            }
            return new Secret(text.getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new ScenarioException("--secret-file " + file + " cannot be read: " + e);
        }
    }

    /** Reads the secret of a file that only its owner reads, and makes it first if it is not there. */
    public static Secret readOrMake(Path file) {
        if (!Files.exists(file)) {
            try {
                make(file);
            } catch (IOException e) {
                throw new ScenarioException("the secret of the sweep cannot be written to " + file + ": " + e
                        + "; name another file by --secret-file");
            }
        }
        return read(file);
    }

    /** Another process may make it at the same moment; the first one's counts, for both. */
    private static void make(Path file) throws IOException {
        var directory = file.toAbsolutePath().getParent();
        Files.createDirectories(directory);
        boolean isPosix = Files.getFileStore(directory).supportsFileAttributeView("posix");
        var draft = isPosix
                ? Files.createTempFile(
                        directory,
                        "secret",
                        null,
                        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))
                : Files.createTempFile(directory, "secret", null);
        try {
            Files.writeString(draft, HexFormat.of().formatHex(randomBytes()) + "\n");
            Files.createLink(file, draft);
        } catch (FileAlreadyExistsException theirs) {
            // Read next.
        } finally {
            Files.delete(draft);
        }
    }

    /** Returns a name that no other sweep has, so that a signature of one is worth nothing in another. */
    static String newName() {
        return HexFormat.of().formatHex(randomBytes());
    }

    private static byte[] randomBytes() {
        var bytes = new byte[NUM_BYTES];
        new SecureRandom().nextBytes(bytes);
        return bytes;
    }

    /** Returns a signature of texts, in this order. */
    String sign(String... texts) {
        if (key.length == 0) {
            return "";
        }
        try {
            var mac = Mac.getInstance(ALGORITHM);
            mac.init(new SecretKeySpec(key, ALGORITHM));
            for (String text : texts) {
                var bytes = text.getBytes(StandardCharsets.UTF_8);
                mac.update(
                        ByteBuffer.allocate(Integer.BYTES).putInt(bytes.length).array());
                mac.update(bytes);
            }
            return HexFormat.of().formatHex(mac.doFinal());
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java has " + ALGORITHM, e);
        }
    }

    /** Returns whether a signature of texts is one by the same secret. */
    boolean hasSigned(String signature, String... texts) {
        return MessageDigest.isEqual(
                sign(texts).getBytes(StandardCharsets.UTF_8), signature.getBytes(StandardCharsets.UTF_8));
    }
}
