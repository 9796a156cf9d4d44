package understudy.workload.agentic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static understudy.workload.agentic.Sessions.request;
import static understudy.workload.agentic.Sessions.session;
import static understudy.workload.agentic.Sessions.subAgent;
import static understudy.workload.agentic.Sessions.twoTurns;
import static understudy.workload.agentic.Sessions.write;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import understudy.workload.files.TraceException;
import understudy.workload.trace.TraceRow;

final class AgenticTraceReaderTest {
    private static final double NANOS = 1e9;

    @TempDir
    private Path folder;

    /** Turns at 0 and 11 s; a sub-agent from 4 s on, whose times count from there, with a request of its own at 5 s. */
    @Test
    void requestsOfAgentAndSubAgent_comeInOrderOfTime() throws IOException {
        write(
                folder,
                "a.json",
                session(
                        request(0, 0, 128, 8, 1, 2),
                        subAgent(4, request(1, 0, 64, 3, 9)),
                        request(11, 10, 192, 9, 1, 2, 3)));

        var rows = rows();

        assertThat(rows).extracting(row -> row.arrivalNanos() / NANOS).containsExactly(0.0, 5.0, 11.0);
        assertThat(rows).extracting(TraceRow::numPromptTokens).containsExactly(128, 64, 192);
        assertThat(rows).extracting(TraceRow::numOutputTokens).containsExactly(8, 3, 9);
        assertThat(rows).extracting(row -> row.turn().turn()).containsExactly(1, 2, 3);
        assertThat(rows).extracting(row -> row.turn().sessionId()).containsOnly(0L);
        assertThat(ids(rows.get(2))).hasSize(3).startsWith(ids(rows.get(0)));
        assertThat(ids(rows.get(1))).hasSize(1).doesNotContain(ids(rows.get(2)));
    }

    @Test
    void localIdsOfTwoSessions_areKeptApart() throws IOException {
        write(folder, "a.json", twoTurns());
        write(folder, "b.json", twoTurns());

        var rows = rows();

        assertThat(rows).extracting(row -> row.turn().sessionId()).containsExactly(0L, 1L, 0L, 1L);
        assertThat(ids(rows.get(0))).hasSize(2).doesNotContain(ids(rows.get(1)));
    }

    @Test
    void folderWithoutSessions_isNamed() {
        assertThatThrownBy(this::rows)
                .isInstanceOf(TraceException.class)
                .hasMessage(folder + ": there are no sessions, neither .json nor .jsonl");
    }

    private static long[] ids(TraceRow row) {
        return row.blockIds().toLongArray();
    }

    private List<TraceRow> rows() {
        var rows = new ArrayList<TraceRow>();
        try (var reader = new AgenticTraceReader(folder)) {
            for (var row = reader.next(); row != null; row = reader.next()) {
                rows.add(row);
            }
        }
        return rows;
    }
}
