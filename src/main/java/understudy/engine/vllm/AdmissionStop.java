package understudy.engine.vllm;

import understudy.engine.vllm.queue.WaitingQueues;

/**
 * Known bug: no request is admitted any more once those that run and those that were passed over are as many as may run
 * (vLLM <a href="https://github.com/vllm-project/vllm/issues/53130">issue 53130</a>, open; seen with 0.27.1). Those that run
 * go on, the server says that it is healthy, and only a restart helps. The issue tells when it happens and what follows;
 * why the state never ends is not settled there.
 */
final class AdmissionStop implements StepRule {
    private final int maxNumSeqs;
    private boolean hasStopped;

    AdmissionStop(int maxNumSeqs) {
        this.maxNumSeqs = maxNumSeqs;
    }

    @Override
    public boolean seesEach() {
        return false;
    }

    @Override
    public void begin(RunningList running, WaitingQueues<VllmRequest> waiting) {
        hasStopped |= running.size() + waiting.numSkipped() >= maxNumSeqs && waiting.numSkipped() > 0;
    }

    @Override
    public boolean hasStopped() {
        return hasStopped;
    }

    @Override
    public int maxRunning(int max) {
        return hasStopped ? 0 : max;
    }
}
