package understudy.api.call;

import understudy.cluster.RequestEvent;

/** A listener who does nothing. */
final class Unheard implements Generation.Listener {
    @Override
    public void onDelta(Generation generation, Delta delta) {}

    @Override
    public void onRejected(String reason) {}

    @Override
    public void onLoadShed(String reason) {}

    @Override
    public void onAdmitted() {}

    @Override
    public void onBroken(RequestEvent.Failed failed) {}

    @Override
    public void onStopped(Generation generation) {}
}
