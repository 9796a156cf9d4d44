package understudy.engine.vllm;

import it.unimi.dsi.fastutil.objects.ObjectArrayList;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;
import understudy.kvcache.BlockCacheSpec;
import understudy.latency.BatchShape;
import understudy.latency.GrowingContexts;

/**
 * Requests at the head of the running list that decode one token per step, scheduled as one: a step touches only those
 * that need a block, or end. The loop over sequences, in {@link StepPlanner} and {@link StepUpdate}, is the definition;
 * the cohort comes to the same plans, questions and results, and is dissolved into it where it might not: when the
 * token budget does not cover it, when blocks are refused, and when a request is aborted.
 *
 * <p>Steps are counted from 1, in the order of plans. With asynchronous scheduling one step is in flight when the next
 * one is planned, so that some members are not yet part of it, and others end in it.
 */
final class DecodeCohort {
    /** The setting for no cohort. */
    static final int NEVER = 0;

    private final RunningList running;
    private final int minRunning;
    private final boolean isAsync;
    private final int blockSize;
    private final int maxModelLen;
    private final BlockCalendar blocks;
    private final GrowingContexts contexts = new GrowingContexts();

    /** When answers end for their length, which a planner may know; with asynchronous scheduling. */
    private final RequestCalendar limits;

    /** When answers end. */
    private final RequestCalendar ends;

    private final ArrayDeque<VllmPlan> inFlight = new ArrayDeque<>();
    private final ObjectArrayList<VllmRequest> ended = new ObjectArrayList<>();

    /** Members, those included that are no longer scheduled: the requests of the running list before this index. */
    private int endIndex;

    private int numScheduled;
    private int numStepsPlanned;
    private int numStepsExecuted;
    private long lastPlanStep;
    private long lastEndNanos = -1;

    /**
     * Creates an empty cohort, which takes in requests once {@code minRunning} of them run; none if blocks are cached
     * only after they were computed, which is a different calendar.
     */
    DecodeCohort(RunningList running, BlockCacheSpec kvCache, boolean isAsync, int minRunning) {
        this.running = running;
        this.isAsync = isAsync;
        this.minRunning = kvCache.sharesWithinStep() || !kvCache.enablePrefixCaching() ? minRunning : NEVER;
        blockSize = kvCache.growthUnit();
        maxModelLen = kvCache.maxModelLen();
        blocks = new BlockCalendar(blockSize);
        limits = new RequestCalendar(running);
        ends = new RequestCalendar(running);
    }

    int numScheduled() {
        return numScheduled;
    }

    /** Returns the index of the running list behind the last member. */
    int endIndex() {
        return endIndex;
    }

    int numStepsPlanned() {
        return numStepsPlanned;
    }

    int numStepsExecuted() {
        return numStepsExecuted;
    }

    long lastPlanStep() {
        return lastPlanStep;
    }

    long lastEndNanos() {
        return lastEndNanos;
    }

    /** Returns how many steps are in flight when the next one is planned: 1 with asynchronous scheduling. */
    int numInFlight() {
        return isAsync ? 1 : 0;
    }

    int maxModelLen() {
        return maxModelLen;
    }

    int blockSize() {
        return blockSize;
    }

    /**
     * Begins a step: takes in the running requests behind the last member that are steady by now, and leaves out those
     * whose answer reaches its limit with the step in flight.
     */
    void beginPlan(int numStepsInFlight, int budget) {
        if (numStepsInFlight != numInFlight() || numScheduled > budget) {
            dissolve();
            return;
        }
        for (var due = limits.pollDue(numStepsPlanned); due != null; due = limits.pollDue(numStepsPlanned)) {
            unschedule(due);
        }
        if (endIndex > 0 || (minRunning != NEVER && running.size() >= minRunning)) {
            takeIn(budget);
        }
    }

    private void takeIn(int budget) {
        while (endIndex < running.size() && numScheduled < budget) {
            var request = running.get(endIndex);
            if (!CohortMember.canBe(request, this)) {
                return;
            }
            join(request);
        }
    }

    private void join(VllmRequest request) {
        int step = numStepsPlanned + 1;
        int numComputedAfter = request.numComputedTokens + 1;
        request.cohortMember = new CohortMember(this, request, step);
        blocks.add(step, numComputedAfter, request);
        contexts.add(numComputedAfter);
        if (isAsync) {
            limits.add(numStepsPlanned + CohortMember.numStepsToLimit(request, this), request);
        }
        int numSteps = CohortMember.numStepsToEnd(request, this);
        if (numSteps > 0) {
            ends.add(numStepsPlanned + numSteps, request);
        }
        numScheduled++;
        endIndex++;
    }

    /** Adds the members that need or complete a block in the step that is being planned, in running order. */
    void addNeedsTo(ReservationDraft draft) {
        int step = numStepsPlanned + 1;
        var needBlock = blocks.at(step, 1);
        // With asynchronous scheduling the token that completes a block is known only when the next block is needed.
        var completeBlock = isAsync || blockSize == 1 ? ObjectArrayList.<VllmRequest>of() : blocks.at(step, 0);
        int i = 0;
        int j = 0;
        while (i < needBlock.size() || j < completeBlock.size()) {
            boolean takesFirst = j == completeBlock.size()
                    || (i < needBlock.size() && needBlock.get(i).runningOrder < completeBlock.get(j).runningOrder);
            var request = takesFirst ? needBlock.get(i++) : completeBlock.get(j++);
            draft.addMember(request, request.numComputedTokens() + 1, takesFirst ? 1 : 0);
        }
    }

    /** Fixes a plan: its batch has all scheduled members, each with one token. */
    void onPlanned(VllmPlan plan, BatchShape.Builder batch) {
        batch.addDecodes(contexts);
        contexts.grow();
        numStepsPlanned++;
        lastPlanStep = plan.step();
        inFlight.add(plan);
    }

    /**
     * Returns whether the result of the oldest plan in flight can be applied to all members as one. With asynchronous
     * scheduling not if it is the only one: blocks may be complete when all known tokens are computed.
     */
    boolean canExecute() {
        return !isAsync || inFlight.size() > 1;
    }

    /**
     * Applies the result of the oldest plan in flight to those members of which nothing but the next token is known.
     *
     * @return the members whose answer ends with it, in running order; they have left, and do not have the token yet
     */
    List<VllmRequest> onExecuted() {
        var plan = inFlight.remove();
        ended.clear();
        int step = numStepsExecuted + 1;
        for (var due = ends.pollDue(step); due != null; due = ends.pollDue(step)) {
            leave(due);
            plan.excludeMember();
            ended.add(due);
        }
        numStepsExecuted++;
        return ended;
    }

    /** Records the end of any step, with or without the cohort. */
    void onStepEnded(long atNanos) {
        lastEndNanos = atNanos;
    }

    /** Removes a member whose answer ends; a later step in flight brings it nothing. */
    void leave(VllmRequest request) {
        var member = request.cohortMember;
        if (member == null) {
            return;
        }
        member.catchUp();
        var newest = inFlight.peekLast();
        if (newest != null && member.isScheduledIn(numStepsPlanned)) {
            newest.excludeMember();
        }
        if (member.isScheduled()) {
            removeFromCalendars(request);
        }
        request.cohortMember = null;
    }

    /** Has the loop pass over a member until the step in flight has ended its answer. */
    private void unschedule(VllmRequest request) {
        var member = request.cohortMember;
        if (member != null && member.isScheduled()) {
            member.retire();
            removeFromCalendars(request);
        }
    }

    private void removeFromCalendars(VllmRequest request) {
        int numComputedAfter = request.numComputedTokens + 1;
        blocks.remove(numStepsPlanned + 1, numComputedAfter, request);
        contexts.remove(numComputedAfter);
        numScheduled--;
    }

    /**
     * Adjusts the end of the cohort to the removal of a request from the running list; a negative index changes
     * nothing.
     */
    void onRemoved(int index) {
        endIndex -= index >= 0 && index < endIndex ? 1 : 0;
    }

    /** Returns the members whose token the step executed last has brought, and that go on, in running order. */
    List<VllmRequest> executedMembers() {
        return membersOf(numStepsExecuted);
    }

    private List<VllmRequest> membersOf(int step) {
        var members = new ObjectArrayList<VllmRequest>(endIndex);
        for (int i = 0; i < endIndex; i++) {
            var request = running.get(i);
            if (Objects.requireNonNull(request.cohortMember).isScheduledIn(step)) {
                members.add(request);
            }
        }
        return members;
    }

    /** Returns the members that a plan schedules: one in flight, or the next. */
    List<VllmRequest> membersOf(VllmPlan plan) {
        boolean isOlder = inFlight.size() > 1 && inFlight.peek() == plan;
        boolean isNext = !inFlight.contains(plan);
        return membersOf(numStepsPlanned + (isNext ? 1 : isOlder ? -1 : 0));
    }

    /** Ends all memberships: the plans in flight list their requests one by one from now on. */
    void dissolve() {
        if (endIndex == 0) {
            return;
        }
        for (var plan : inFlight) {
            plan.listMembers();
        }
        inFlight.clear();
        for (int i = 0; i < endIndex; i++) {
            running.get(i).catchUp();
            running.get(i).cohortMember = null;
        }
        numStepsExecuted = numStepsPlanned;
        numScheduled = 0;
        endIndex = 0;
        blocks.clear();
        contexts.clear();
        limits.clear();
        ends.clear();
    }
}
