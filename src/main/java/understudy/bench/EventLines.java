package understudy.bench;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/** Finds the data of server-sent events in bytes as they come: lines that begin with {@code data:}. */
final class EventLines {
    private static final String DATA = "data:";

    private final Consumer<String> onData;
    private final ByteArrayOutputStream line = new ByteArrayOutputStream();

    EventLines(Consumer<String> onData) {
        this.onData = onData;
    }

    /** Reads bytes, and hands over each line of data that is complete with them, without its name. */
    void read(ByteBuffer bytes) {
        while (bytes.hasRemaining()) {
            byte next = bytes.get();
            if (next == '\n') {
                endLine();
            } else {
                line.write(next);
            }
        }
    }

    private void endLine() {
        String text = line.toString(StandardCharsets.UTF_8);
        line.reset();
        if (text.startsWith(DATA)) {
            onData.accept(text.substring(DATA.length()).strip());
        }
    }
}
