package understudy.routing.admission;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import understudy.engine.Request;
import understudy.routing.ClusterView;
import understudy.routing.LoadReport;
import understudy.routing.RoutingFixture;
import understudy.routing.admission.AdmissionControl.Verdict;
import understudy.routing.admission.QueueSpec.Order;

final class AdmissionControlTest {
    private static final double NONE = Double.POSITIVE_INFINITY;
    private static final long SECOND = 1_000_000_000;

    private final ClusterView view = RoutingFixture.view(2);
    private long nextId;

    /** 2 requests at once, then one every half second, as 2 flow in per second. */
    @Test
    void rateLimit_letsBurstsThroughAndThenItsRate() {
        var control = new AdmissionControl<Long>(
                spec(new RateLimit(2, 2, RateLimit.Unit.REQUESTS, false), Saturation.NEVER, QueueSpec.NONE));

        assertThat(arriveAt(control, 0, 0, 0))
                .containsExactly(Verdict.ADMITTED, Verdict.ADMITTED, Verdict.RATE_LIMITED);
        assertThat(arriveAt(control, SECOND / 2 - 1, SECOND / 2))
                .containsExactly(Verdict.RATE_LIMITED, Verdict.ADMITTED);
        // Ten seconds later the bucket holds its burst, and no more.
        assertThat(arriveAt(control, 10 * SECOND, 10 * SECOND, 10 * SECOND))
                .containsExactly(Verdict.ADMITTED, Verdict.ADMITTED, Verdict.RATE_LIMITED);
    }

    /** A prompt of 20 tokens out of a bucket of 30 leaves 10, too little for the next one, but the other tenant has 30. */
    @Test
    void rateLimit_countsTokensOfEachTenant() {
        var control = new AdmissionControl<Long>(
                spec(new RateLimit(1, 30, RateLimit.Unit.PROMPT_TOKENS, true), Saturation.NEVER, QueueSpec.NONE));

        assertThat(arrive(control, request(0, "a", 20))).isEqualTo(Verdict.ADMITTED);
        assertThat(arrive(control, request(0, "a", 20))).isEqualTo(Verdict.RATE_LIMITED);
        assertThat(arrive(control, request(0, "b", 20))).isEqualTo(Verdict.ADMITTED);
    }

    @Test
    void requestThatComesBack_isNotPaidForAgain() {
        var control = new AdmissionControl<Long>(
                spec(new RateLimit(1, 1, RateLimit.Unit.REQUESTS, false), Saturation.NEVER, QueueSpec.NONE));

        assertThat(arrive(control, request(0, "", 4))).isEqualTo(Verdict.ADMITTED);
        assertThat(control.arrive(request(0, "", 4), 1L, true, view)).isEqualTo(Verdict.ADMITTED);
    }

    /** 3 of 4 and 5 of 4 are 0.75 and 1.25: 1 on average; without one of them it is less. */
    @Test
    void saturation_isTheAverageOfTheReplicas() {
        var saturation = new Saturation(4, NONE, NONE);
        dispatch(0, 3);
        dispatch(1, 4);
        assertThat(saturation.isReached(view)).isFalse();

        dispatch(1, 1);
        assertThat(saturation.isReached(view)).isTrue();
        view.setReady(1, false);
        assertThat(saturation.isReached(view)).isFalse();
    }

    /** The example of the Gateway API Inference Extension: 5 waiting or 80 % of the KV cache. */
    @Test
    void saturation_readsReports() {
        var saturation = new Saturation(NONE, 5, 0.8);
        view.onReport(0, new LoadReport(0, 9, 5, 0.1, 0));
        view.onReport(1, new LoadReport(0, 9, 0, 0.79, 0));
        // 1 and 0.9875
        assertThat(saturation.isReached(view)).isFalse();

        view.onReport(1, new LoadReport(0, 9, 0, 0.8, 0));
        assertThat(saturation.isReached(view)).isTrue();
    }

    @Test
    void withoutReplicas_requestsWaitIfTheyMay() {
        view.setReady(0, false);
        view.setReady(1, false);

        assertThat(arrive(control(Order.FCFS, 0), request(0, "", 4))).isEqualTo(Verdict.NO_REPLICA);
        assertThat(arrive(control(Order.FCFS, 1), request(0, "", 4))).isEqualTo(Verdict.WAITS);
    }

    @Test
    void queue_isBounded() {
        var control = saturated(Order.FCFS, 2);

        assertThat(arrive(control, request(0, "", 4))).isEqualTo(Verdict.WAITS);
        assertThat(arrive(control, request(0, "", 4))).isEqualTo(Verdict.WAITS);
        assertThat(arrive(control, request(0, "", 4))).isEqualTo(Verdict.QUEUE_FULL);
    }

    /** Nobody overtakes those who wait, even if there is room again. */
    @Test
    void whoWaits_goesFirst() {
        var control = saturated(Order.FCFS, 9);
        arrive(control, request(0, "", 4));
        view.onEnded(0, 8);
        view.onEnded(1, 8);

        assertThat(arrive(control, request(0, "", 4))).isEqualTo(Verdict.WAITS);
        assertThat(order(control)).containsExactly(0L, 1L);
    }

    @Test
    void priority_goesBySmallestNumber() {
        var control = saturated(Order.PRIORITY, 9);
        for (int priority : new int[] {2, 0, 1, 0, -1}) {
            arrive(control, request(priority, "", 4));
        }

        assertThat(order(control)).containsExactly(4L, 1L, 3L, 2L, 0L);
    }

    /**
     * Tenant a sends prompts of 30 tokens, and b of 10. First both were served 0, and the first name goes first: a has 30
     * then, so b goes until it has 30 as well, at which a goes again.
     */
    @Test
    void fair_servesTenantsByTokens() {
        var control = saturated(Order.FAIR, 99);
        for (int i = 0; i < 3; i++) {
            arrive(control, request(0, "a", 30));
        }
        for (int i = 0; i < 5; i++) {
            arrive(control, request(0, "b", 10));
        }

        assertThat(order(control)).containsExactly(0L, 3L, 4L, 5L, 1L, 6L, 7L, 2L);
    }

    /** b comes late, and has no claim to what a got before: it begins at a's 60 and is not served until it has as much. */
    @Test
    void fair_givesLatecomersNoCredit() {
        var control = saturated(Order.FAIR, 99);
        for (int i = 0; i < 5; i++) {
            arrive(control, request(0, "a", 30));
        }
        free();
        assertThat(control.next(view)).isZero();
        assertThat(control.next(view)).isOne();
        arrive(control, request(0, "b", 30));
        arrive(control, request(0, "b", 30));

        // a and b at 60: a, then b at 60 while a has 90, then both at 90.
        assertThat(order(control)).containsExactly(2L, 5L, 3L, 6L, 4L);
    }

    /** a was served 30 tokens before the room was empty. That is forgotten: both begin at 0, and the first name goes first. */
    @Test
    void fair_forgetsOldDebtsOnceNobodyWaits() {
        var control = saturated(Order.FAIR, 9);
        arrive(control, request(0, "a", 30));
        assertThat(order(control)).containsExactly(0L);
        dispatch(0, 8);
        dispatch(1, 8);

        arrive(control, request(0, "b", 10));
        arrive(control, request(0, "a", 10));
        view.onEnded(0, 16);
        view.onEnded(1, 16);

        assertThat(control.next(view)).isEqualTo(2);
        assertThat(control.next(view)).isEqualTo(1);
    }

    @Test
    void waitersExpireInTheOrderInWhichTheyCame() {
        var control = saturated(Order.PRIORITY, 9);
        view.setNow(5);
        arrive(control, request(1, "", 4));
        view.setNow(7);
        arrive(control, request(0, "", 4));

        // Each may wait 100 ns.
        assertThat(control.nextExpiryNanos()).isEqualTo(105);
        assertThat(control.expired(104)).isEmpty();
        assertThat(control.expired(105)).containsExactly(0L);
        assertThat(control.expired(107)).containsExactly(1L);
        assertThat(control.nextExpiryNanos()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void removedWaiter_isGone() {
        var control = saturated(Order.FAIR, 9);
        arrive(control, request(0, "a", 4));
        arrive(control, request(0, "a", 4));

        assertThat(control.remove(0)).isZero();
        assertThat(control.remove(0)).isNull();
        assertThat(order(control)).containsExactly(1L);
        assertThat(control.numWaiting()).isZero();
    }

    @Test
    void ttftLimit_isThatOfThePriority() {
        var limits = new AdmissionSpec.TtftLimits(Map.of(1, 300L), 200);
        var control = new AdmissionControl<Long>(
                new AdmissionSpec(RateLimit.NONE, Saturation.NEVER, QueueSpec.NONE, limits, EjectionSpec.NONE));

        assertThat(control.ttftLimitNanos(1)).isEqualTo(300);
        assertThat(control.ttftLimitNanos(0)).isEqualTo(200);
    }

    private AdmissionControl<Long> saturated(Order order, int maxRequests) {
        dispatch(0, 8);
        dispatch(1, 8);
        return control(order, maxRequests);
    }

    private static AdmissionControl<Long> control(Order order, int maxRequests) {
        return new AdmissionControl<>(
                spec(RateLimit.NONE, new Saturation(8, NONE, NONE), new QueueSpec(order, maxRequests, 100)));
    }

    private static AdmissionSpec spec(RateLimit limit, Saturation saturation, QueueSpec queue) {
        return new AdmissionSpec(limit, saturation, queue, AdmissionSpec.TtftLimits.NONE, EjectionSpec.NONE);
    }

    private void dispatch(int replica, int count) {
        for (int i = 0; i < count; i++) {
            view.onDispatched(replica);
        }
    }

    private void free() {
        view.onEnded(0, 8);
        view.onEnded(1, 8);
    }

    /** Returns who goes in which order, once there is room for all. */
    private List<Long> order(AdmissionControl<Long> control) {
        free();
        var order = new ArrayList<Long>();
        for (var next = control.next(view); next != null; next = control.next(view)) {
            order.add(next);
        }
        return order;
    }

    private List<Verdict> arriveAt(AdmissionControl<Long> control, long... nanos) {
        var verdicts = new ArrayList<Verdict>();
        for (long at : nanos) {
            view.setNow(at);
            verdicts.add(arrive(control, request(0, "", 4)));
        }
        return verdicts;
    }

    private Verdict arrive(AdmissionControl<Long> control, Request request) {
        return control.arrive(request, request.id(), false, view);
    }

    private Request request(int priority, String tenant, int numTokens) {
        return RoutingFixture.request(nextId++, 0, numTokens)
                .withPriority(priority)
                .withTenant(tenant);
    }
}
