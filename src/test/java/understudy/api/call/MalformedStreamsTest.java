package understudy.api.call;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.headers.RawHeader;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import understudy.api.http.Arrival;
import understudy.api.http.FaultHeaders;
import understudy.api.http.Json;
import understudy.api.http.JsonBody;
import understudy.api.model.Answer;
import understudy.api.model.Tokenizer;
import understudy.cluster.ClusterEvent;
import understudy.cluster.RequestEvent;
import understudy.faults.Fault;
import understudy.faults.ReplicaState;
import understudy.prompt.SessionTurn;
import understudy.prompt.TokenIds;
import understudy.workload.RandomStreams;

final class MalformedStreamsTest {
    private final MalformedStreams malformed = new MalformedStreams(new RandomStreams(7));

    @Test
    void hits_areThoseOfTheirOwnRandomStream() {
        begin(Fault.ALL_REPLICAS, 0.5, 3);

        // The stream of the fault of all replicas is number -1; one draw for each answer, wherever it is served.
        var random = new RandomStreams(7).stream("malformed-streams", -1);
        var expected = IntStream.range(0, 100)
                .map(i -> random.nextDouble() < 0.5 ? 3 : 0)
                .boxed()
                .toList();
        assertThat(IntStream.range(0, 100).map(i -> malformed.next(i % 4)).boxed())
                .isEqualTo(expected)
                .contains(0)
                .contains(3);
    }

    @Test
    void faultOfOneReplica_endsWhenItGoesDown() {
        begin(OptionalInt.of(1), 1, 3);

        assertThat(malformed.next(0)).isZero();
        assertThat(malformed.next(1)).isEqualTo(3);
        malformed.on(new ClusterEvent.ReplicasChanged(0, List.of(ReplicaState.READY, ReplicaState.DRAINING)));
        assertThat(malformed.next(1)).as("it drains, and still serves").isEqualTo(3);
        malformed.on(new ClusterEvent.ReplicasChanged(0, List.of(ReplicaState.READY, ReplicaState.DOWN)));
        assertThat(malformed.next(1)).isZero();
    }

    @Test
    void earlierToken_isBroken() {
        begin(Fault.ALL_REPLICAS, 1, 5);
        begin(OptionalInt.of(1), 1, 3);

        assertThat(malformed.next(0)).isEqualTo(5);
        assertThat(malformed.next(1)).isEqualTo(3);
        var generation = generation(true, "2");
        malformed.onAdmitted(generation, 1);
        assertThat(broken(generation)).as("its own header names one before").isEqualTo(2);
    }

    @Test
    void answer_isDrawnForOnce_andOnlyIfItStreams() {
        begin(Fault.ALL_REPLICAS, 1, 3);
        var streamed = generation(true, null);
        malformed.onAdmitted(streamed, 0);
        streamed.onAdmitted(new RequestEvent.Admitted(0, 0));
        var whole = generation(false, null);
        malformed.onAdmitted(whole, 0);

        // From a replica that has crashed it goes on at another, where the fault says something else by now.
        begin(Fault.ALL_REPLICAS, 1, 2);
        malformed.onAdmitted(streamed, 1);

        assertThat(broken(streamed)).isEqualTo(3);
        assertThat(broken(whole)).isZero();
    }

    private void begin(OptionalInt replica, double rate, int atToken) {
        malformed.on(new ClusterEvent.StreamsMalformed(new Fault.MalformStreams(replica, rate, atToken)));
    }

    /** Returns which of the first ten tokens is broken, counted from 1, or 0 if none is. */
    private static int broken(Generation generation) {
        return IntStream.range(0, 10)
                .filter(i -> generation.isMalformed(new Delta(0, i, i + 1, "", null)))
                .map(i -> i + 1)
                .findFirst()
                .orElse(0);
    }

    private static Generation generation(boolean streams, @Nullable String header) {
        var body = new JsonBody(Json.object().put("stream", streams));
        var request = header == null
                ? HttpRequest.create()
                : HttpRequest.create().addHeader(RawHeader.create(FaultHeaders.MALFORMED_AT_TOKEN, header));
        var spec = GenerationSpecBuilder.builder()
                .name("name")
                .prompt(new TokenIds(1, 2, 3))
                .loraName("")
                .turn(SessionTurn.NONE)
                .params(GenerationParams.read(body, List.of(), 1, -1))
                .maxTokens(10)
                .maxModelLen(100)
                .answer(new Answer(index -> 7, 10, List.of()))
                .tokenizer(Tokenizer.Vocabulary.CL100K_BASE.load())
                .build();
        return new Generation(0, spec, Arrival.of(request, 0));
    }
}
