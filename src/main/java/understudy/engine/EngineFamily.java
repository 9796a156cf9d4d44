package understudy.engine;

import understudy.latency.StepExecution;
import understudy.settings.Section;

/**
 * Family of engines, such as vLLM's: its name, and how its settings are read. It is registered by a line in {@code
 * engine.family.EngineFamilies}, or, if it is not part of Understudy, by {@link java.util.ServiceLoader}.
 */
public interface EngineFamily {

    /** Returns the name by which {@code engine.kind} chooses it: words in lower case, with hyphens. */
    String name();

    /**
     * Reads the settings of an engine and of its memory, in the family's own sections and under its own errors. Keys that a
     * family does not know are those of others: {@link Section#requireOnly} refuses them. Settings that only this
     * family has stand in the section {@code engine.<name>}.
     *
     * @param engine the section {@code engine} of a scenario, or of a group of replicas
     * @param kvCache the section {@code kv-cache}
     * @param hardware figures that follow from model and GPUs
     * @param use needs that other parts of the scenario have of its memory
     */
    EngineSpec read(Section engine, Section kvCache, Hardware hardware, KvUse use);

    /**
     * Returns how its engines run their steps on a GPU, whatever the model of step times; vLLM's way unless it has its own.
     *
     * @param engine as for {@link #read}
     */
    default StepExecution execution(Section engine, Hardware hardware) {
        return StepExecution.VLLM;
    }

    /**
     * Uses of a replica's KV by others.
     *
     * @param recordsEvents whether to collect changes of what is cached
     * @param hasConnector whether KV will come from elsewhere, or be kept for others; see {@link EngineSpec#withConnector}
     */
    record KvUse(boolean recordsEvents, boolean hasConnector) {}
}
