package understudy.workload.servegen;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import understudy.TestData;
import understudy.workload.RandomStreams;

/** The day of DeepSeek-R1, against what its files say. */
final class DeepSeekDayTest {
    private static final int NUM_WINDOWS = 144;
    private static final int WINDOW_SECONDS = 600;
    private static final int NUM_QUARTERS = 4;
    private static final int MAX_TOKENS = 1 << 16;
    private static final double[] SHARES = {0.1, 0.25, 0.5, 0.75, 0.9, 0.99};

    private final int[] numByWindow = new int[NUM_WINDOWS];
    private final List<IntArrayList> prompts = lists();
    private final List<IntArrayList> answers = lists();
    private long numOutputTokens;

    private static List<IntArrayList> lists() {
        return IntStream.range(0, NUM_QUARTERS)
                .mapToObj(i -> new IntArrayList())
                .toList();
    }

    @Test
    void aDay_hasTheCountsAndLengthsOfItsFiles() {
        var options = options(1);
        draw(options);

        // Rates are given as requests of a window over 600 s, so what they stand for is whole, and is met exactly.
        assertThat(IntStream.of(numByWindow).sum()).isEqualTo(1_383_669);
        var clients = ServeGenFiles.read(options, 0);
        assertThat(numByWindow)
                .containsExactly(IntStream.range(0, NUM_WINDOWS)
                        .map(i -> (int) Math.rint(expected(clients, i)))
                        .toArray());
        // 1,383,669 answers with a mean of 1,527.4 tokens are 2.113 billion.
        assertThat(numOutputTokens / 2.113443e9).isCloseTo(1, within(0.005));
        for (int quarter = 0; quarter < NUM_QUARTERS; quarter++) {
            check(prompts.get(quarter), mixture(clients, quarter, ClientLengths.Tables::input));
            check(answers.get(quarter), mixture(clients, quarter, ClientLengths.Tables::output));
        }
    }

    /**
     * At a scale of 0.37 the requests of a client in a window are a whole number and a fraction f, which is drawn. A
     * window has the variance of all of them, the sum of f (1 - f), and may be off by four times its root.
     */
    @Test
    void aScaledDay_isWithinFourStandardErrorsInEachWindow() {
        var options = options(0.37);
        draw(options);

        var clients = ServeGenFiles.read(options, 0);
        for (int i = 0; i < NUM_WINDOWS; i++) {
            double variance = 0;
            for (var client : clients) {
                double fraction = numRequests(client, i) % 1;
                variance += fraction * (1 - fraction);
            }
            assertThat((double) numByWindow[i]).isCloseTo(expected(clients, i), within(4 * Math.sqrt(variance) + 1e-6));
        }
        assertThat(IntStream.of(numByWindow).sum() / (1_383_669 * 0.37)).isCloseTo(1, within(0.01));
    }

    private static ServeGenOptions options(double rateScale) {
        var path = TestData.require("servegen/deepseek-r1.tar.gz");
        return new ServeGenOptions(List.of(new ServeGenOptions.Service(path, rateScale)), 0, 86_400, 0, true, true);
    }

    private void draw(ServeGenOptions options) {
        try (var reader = new ServeGenReader(options, new RandomStreams(7))) {
            for (var row = reader.next(); row != null; row = reader.next()) {
                int window = (int) (row.arrivalNanos() / 1_000_000_000L / WINDOW_SECONDS);
                numByWindow[window]++;
                int quarter = window * NUM_QUARTERS / NUM_WINDOWS;
                prompts.get(quarter).add(row.prompt().length());
                answers.get(quarter).add(row.numOutputTokens());
                numOutputTokens += row.numOutputTokens();
            }
        }
    }

    private static double expected(List<ServeGenClient> clients, int window) {
        return clients.stream()
                .mapToDouble(client -> numRequests(client, window))
                .sum();
    }

    private static double numRequests(ServeGenClient client, int window) {
        return client.windows().stream()
                .filter(each -> each.index() == window)
                .mapToDouble(each -> each.perSecond() * WINDOW_SECONDS * client.rateScale())
                .sum();
    }

    /**
     * Compares the number of draws at or below some lengths with what the tables say: n of them are expected below a
     * length that has the share p, with a standard error of sqrt(n p (1 - p)) or less, since clients are drawn apart.
     */
    private static void check(IntArrayList drawn, double[] shares) {
        var counts = new long[MAX_TOKENS];
        drawn.forEach(length -> counts[length]++);
        double below = 0;
        long numBelow = 0;
        int next = 0;
        for (int length = 0; length < MAX_TOKENS && next < SHARES.length; length++) {
            below += shares[length];
            numBelow += counts[length];
            if (below >= SHARES[next]) {
                double n = drawn.size();
                assertThat((double) numBelow).isCloseTo(n * below, within(4 * Math.sqrt(n * below * (1 - below))));
                next++;
            }
        }
        assertThat(next).isEqualTo(SHARES.length);
    }

    /** Returns the share of each length in a quarter of the day: the tables of all clients, by their requests. */
    private static double[] mixture(
            List<ServeGenClient> clients, int quarter, Function<ClientLengths.Tables, LengthTable> field) {
        var shares = new double[MAX_TOKENS];
        double all = 0;
        for (var client : clients) {
            double requests = client.windows().stream()
                    .filter(window -> window.index() * NUM_QUARTERS / NUM_WINDOWS == quarter)
                    .mapToDouble(ClientWindow::numRequests)
                    .sum();
            if (requests > 0) {
                all += requests;
                var table = field.apply(client.lengths().at(quarter * 21_600L));
                for (int i = 0; i < 100_000; i++) {
                    shares[(int) table.quantile((i + 0.5) / 100_000)] += requests / 100_000;
                }
            }
        }
        for (int i = 0; i < MAX_TOKENS; i++) {
            shares[i] /= all;
        }
        return shares;
    }
}
