package understudy.engine.roseinfer;

import understudy.engine.Engine;
import understudy.engine.EngineSpec;
import understudy.engine.EngineTraits;
import understudy.engine.EngineTraits.Feature;
import understudy.engine.Hardware.KvRoom;
import understudy.engine.RequestLimits;
import understudy.kvcache.KvCache;
import understudy.kvcache.content.PromptConfig;

/**
 * Engine of roseinfer with its settings.
 *
 * @param config settings of its worker loop
 * @param limits which requests are too long
 * @param kvCache sizes and switches of its memory
 * @param room of its KV blocks
 */
public record RoseinferSpec(RoseinferConfig config, RequestLimits limits, PromptConfig kvCache, KvRoom room)
        implements EngineSpec {

    /** Creates an engine with as many blocks as given. */
    public RoseinferSpec(RoseinferConfig config, RequestLimits limits, PromptConfig kvCache) {
        this(config, limits, kvCache, KvRoom.GIVEN);
    }

    @Override
    public Engine createEngine() {
        return new RoseinferPlanner(config, kvCache);
    }

    @Override
    public KvCache createMemory() {
        return kvCache.create();
    }

    /** Nothing is cut to a budget here: a whole batch of the longest prompts is one forward. */
    @Override
    public EngineTraits traits() {
        long most = (long) config.maxNumSeqs() * kvCache.maxModelLen();
        return EngineTraits.of(RoseinferFamily.NAME, config.maxNumSeqs(), (int) Math.min(Integer.MAX_VALUE, most))
                .with(Feature.STREAMING_FIGURES, true);
    }
}
