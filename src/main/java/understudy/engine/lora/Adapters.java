package understudy.engine.lora;

import understudy.latency.BatchShape;

/** Places of an engine for LoRA adapters, into which some are loaded between two steps. */
public interface Adapters {
    /** No place for any. */
    Adapters NONE = new Adapters() {
        @Override
        public BatchShape.Loras load(String name) {
            return BatchShape.Loras.NONE;
        }

        @Override
        public long loadingNanos(BatchShape.Loras loaded) {
            return 0;
        }

        @Override
        public void unload(String name) {}
    };

    /** Loads an adapter between two steps, if there may be any, and returns what that takes. */
    BatchShape.Loras load(String name);

    /** Returns how long that takes while no step runs. */
    long loadingNanos(BatchShape.Loras loaded);

    /** Forgets an adapter; a step that needs it loads it again. */
    void unload(String name);
}
