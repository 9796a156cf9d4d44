package example;

import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.engine.Engine;
import understudy.engine.EngineFamily;
import understudy.engine.EngineSizes;
import understudy.engine.EngineSpec;
import understudy.engine.EngineTraits;
import understudy.engine.Hardware;
import understudy.engine.MemorySettings;
import understudy.engine.PlainEngine;
import understudy.engine.RequestLimits;
import understudy.kvcache.Admission;
import understudy.kvcache.KvAnswer;
import understudy.kvcache.KvAsk;
import understudy.kvcache.KvCache;
import understudy.kvcache.PrefixUnit;
import understudy.kvcache.Reservation;
import understudy.kvcache.content.ContentConfig;
import understudy.settings.Section;

/** Family of engines that serve one request at a time: the whole prompt in one step, then token by token. */
public final class OneAtATime implements EngineFamily {
    @Override
    public String name() {
        return "one-at-a-time";
    }

    @Override
    public EngineSpec read(Section engine, Section kvCache, Hardware hardware, KvUse use) {
        String why = "which means nothing to engine.kind = " + name();
        engine.requireOnly(List.of("kind", "max-model-len", name()), why);
        kvCache.requireDefaults(List.of("sessions"), why);
        // As with KV from elsewhere, all layers are one group.
        var sizes = new EngineSizes(engine, kvCache, PrefixUnit.BLOCK, hardware, true, 0);
        var memory = ContentConfig.vllm(MemorySettings.blocks(engine, kvCache, sizes, use.recordsEvents()));
        return new Spec(name(), memory, MemorySettings.limits(engine, kvCache, memory, 0));
    }

    private record Spec(String family, ContentConfig kvCache, RequestLimits limits) implements EngineSpec {
        @Override
        public EngineTraits traits() {
            return EngineTraits.of(family, 1, kvCache.maxModelLen()).with(EngineTraits.Feature.BOUNDED_RUNNING, true);
        }

        @Override
        public Engine createEngine() {
            return new Loop(kvCache);
        }

        @Override
        public KvCache createMemory() {
            return kvCache.create();
        }
    }

    private static final class Loop extends PlainEngine {
        private boolean hasAsked;

        Loop(ContentConfig kvCache) {
            super(kvCache);
        }

        @Override
        public void begin(long atNanos) {
            super.begin(atNanos);
            hasAsked = false;
        }

        @Override
        public @Nullable KvAsk next() {
            var head = head();
            boolean isDone = hasAsked || (numRunning() == 0 && (admitsNone() || head == null));
            hasAsked = true;
            return isDone ? null : numRunning() > 0 ? oneMoreToken() : new KvAsk.Admit(admission(head));
        }

        private KvAsk oneMoreToken() {
            var running = running().get(0);
            int numTokens = running.numComputedTokens() + 1;
            var reservation = new Reservation.Builder();
            reservation.add(running.handle(), numTokens, numTokens);
            return new KvAsk.Reserve(reservation.build(), false);
        }

        @Override
        public void answer(KvAnswer answer) {
            if (answer instanceof KvAnswer.Reserved reserved && reserved.numGranted() > 0) {
                schedule(running().get(0), 1, false);
            } else if (answer instanceof KvAnswer.Admitted admitted
                    && admitted.admission() instanceof Admission.Admitted admission) {
                schedule(admit(admission), admission.numScheduledTokens(), false);
            }
        }
    }
}
