package understudy.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import understudy.faults.Fault;

/** The example of the README, to the letter. */
final class ReadmeExampleTest {
    @RegisterExtension
    final EmulatedClusterExtension emulation = EmulatedClusterExtension.servingPaused("cluster.replicas = 2");

    @Test
    void survivesACrash(EmulatedCluster cluster) {
        cluster.inject(new Fault.Crash(0));
        var call = HttpRequest.newBuilder(cluster.uri().resolve("/v1/completions"))
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString("{\"prompt\": \"Hello\"}"));
        var answer = HttpClient.newHttpClient().sendAsync(call.build(), BodyHandlers.ofString());
        cluster.awaitRequests(1);
        cluster.advance(Duration.ofSeconds(10)); // of virtual time
        assertEquals(200, answer.join().statusCode());
        cluster.check().hasServed(1, 1).hasCompleted(1).hasMetric("vllm:request_success_total", 1);
    }
}
