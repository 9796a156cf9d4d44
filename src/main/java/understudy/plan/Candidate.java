package understudy.plan;

import java.util.Map;

/** Deployment that may be the answer: so many of one unit. */
public record Candidate(ServingUnit unit, int count) {

    /** Returns the settings of its scenario. */
    public Map<String, String> settings() {
        return unit.settings(count);
    }

    /** Returns all its GPUs. */
    public int numGpus() {
        return count * unit.numGpus();
    }

    /** Returns the cost of an hour; two with the same GPUs cost exactly the same. */
    public double hourCost() {
        double cost = 0;
        for (var gpus : unit.gpus()) {
            cost += count * gpus.count() * gpus.hourPrice();
        }
        return cost;
    }

    /** Returns the name as people read it. */
    public String name() {
        return count + " x " + unit.name();
    }
}
