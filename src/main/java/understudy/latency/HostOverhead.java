package understudy.latency;

/**
 * Time of a step beside the GPU's work: scheduling, preparing inputs, handling outputs.
 *
 * @param perStepMicros every step, in microseconds
 * @param perSequenceMicros every sequence of the batch, in microseconds
 */
public record HostOverhead(double perStepMicros, double perSequenceMicros) {

    /** Returns the time of a batch. */
    public double micros(BatchShape batch) {
        return perStepMicros + perSequenceMicros * batch.numSequences();
    }
}
