package understudy.fuzz;

import understudy.settings.Section;

/** Something that holds for every scenario. */
@FunctionalInterface
public interface Check {

    /**
     * Checks a merged scenario; returns if all is well. It depends on the scenario alone.
     *
     * @throws understudy.settings.ScenarioException if the scenario is refused, which is no failure of the emulation
     * @throws RuntimeException if something has failed
     */
    void check(Section scenario) throws InterruptedException;
}
