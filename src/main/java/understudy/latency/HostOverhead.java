package understudy.latency;

/**
 * Time of a step beside the GPU's work: scheduling, preparing inputs, launching kernels, handling outputs.
 *
 * @param perStepMicros every step, in microseconds
 * @param perSequenceMicros every sequence of the batch, in microseconds
 * @param execution how the engine runs its steps
 */
public record HostOverhead(double perStepMicros, double perSequenceMicros, StepExecution execution) {

    /** Describes the host of a vLLM engine. */
    public HostOverhead(double perStepMicros, double perSequenceMicros) {
        this(perStepMicros, perSequenceMicros, StepExecution.VLLM);
    }

    /** Returns the time of a batch, whether or not the GPU works meanwhile. */
    public double micros(BatchShape batch) {
        return perStepMicros + perSequenceMicros * batch.numSequences();
    }

    /**
     * Returns by how much a step is longer than its kernels.
     *
     * @param kernelMicros time of all its kernels
     * @param kernels that its layers launch
     */
    public double microsBeyond(double kernelMicros, BatchShape batch, LaunchedKernels kernels) {
        double launching = Math.max(0, execution.launchMicros(batch, kernels) - kernelMicros);
        double host = micros(batch);
        return launching + (execution.hidesHost() ? Math.max(0, host - kernelMicros - launching) : host);
    }
}
