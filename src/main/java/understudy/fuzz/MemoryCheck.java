package understudy.fuzz;

import understudy.scenario.Scenario;
import understudy.settings.Section;

/**
 * Check of a replica's scheduler and KV memory by plain calls, with a random hand that aborts, resets and shrinks: blocks
 * are conserved after every step, plans keep to their limits, tables have the blocks they need, everything ends, and hits
 * are those of a plain model of prefix caching. KV comes from nowhere else.
 */
public final class MemoryCheck implements Check {

    @Override
    public void check(Section scenario) {
        new MemoryRun(Scenario.read(scenario)).run();
    }
}
