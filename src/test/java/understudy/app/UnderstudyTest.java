package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

final class UnderstudyTest {
    private final StringWriter err = new StringWriter();

    @Test
    void memoryThatRunsOutInAnyThread_isOneLine() throws Exception {
        var failure = new ExecutionException(new IllegalStateException(new OutOfMemoryError("Java heap space")));

        assertThat(Understudy.onFailure(failure, new PrintWriter(err))).isEqualTo(2);
        assertThat(err.toString()).startsWith("out of memory: the heap has ").contains("-Xmx");
        assertThat(err.toString().lines()).hasSize(1);
    }

    @Test
    void defect_isShownInFull() {
        var defect = new IllegalStateException("a defect");

        assertThatThrownBy(() -> Understudy.onFailure(defect, new PrintWriter(err)))
                .isSameAs(defect);
    }
}
