package understudy.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.ints.IntSet;
import it.unimi.dsi.fastutil.longs.LongList;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.WildcardType;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.Test;
import understudy.engine.EngineSpec;
import understudy.engine.RankRules;
import understudy.kvcache.KvAnswer;
import understudy.kvcache.KvAsk;
import understudy.kvcache.Reservation;
import understudy.kvcache.Settlement;
import understudy.kvcache.connector.ConnectorSpec;
import understudy.latency.BatchShape;
import understudy.prompt.BlockHasher;
import understudy.prompt.HashRun;
import understudy.prompt.Prompt;
import understudy.prompt.TokenSequence;
import understudy.prompt.TokenSource;
import understudy.report.RunLog;
import understudy.routing.PrefillEstimate;
import understudy.workload.Workload;

/** What crosses from one actor to another is a value: nothing that it is made of changes after it was sent. */
final class MessageValuesTest {
    /** Types that are immutable, although they are no records; interfaces are those whose implementations are values. */
    private static final Set<Class<?>> VALUES = Set.of(
            String.class,
            Integer.class,
            Long.class,
            Duration.class,
            OptionalInt.class,
            OptionalLong.class,
            // Nobody changes the lists of a message: each is built for it.
            IntList.class,
            IntSet.class,
            LongList.class,
            Prompt.class,
            TokenSequence.class,
            TokenSource.class,
            HashRun.class,
            BlockHasher.class,
            Reservation.class,
            Settlement.class,
            BatchShape.class,
            PrefillEstimate.class,
            EngineSpec.class,
            // Only the engines and memories of one family know what is in them.
            KvAsk.OfFamily.class,
            KvAnswer.OfFamily.class,
            RankRules.Word.class,
            ConnectorSpec.class,
            // Recipes: each call makes something new.
            Function.class,
            Supplier.class,
            Workload.Source.class,
            KvBlockManager.Factory.class,
            VirtualGpu.Factory.class,
            Router.Factory.class,
            Replica.Factory.class,
            MetricsCollector.Factory.class,
            LoadGenerator.Factory.class,
            Autoscaler.Factory.class,
            // Handed over: the collector ignores what comes later.
            RunLog.class);

    private static final Set<Class<?>> CONTAINERS = Set.of(List.class, Map.class, Optional.class, Set.class);

    private final Set<Class<?>> seen = new HashSet<>();
    private final Set<String> mutable = new TreeSet<>();

    @Test
    void everyMessageIsMadeOfValues() {
        var messages = new ClassFileImporter()
                .withImportOption(new ImportOption.DoNotIncludeTests()).importPackages("understudy.cluster").stream()
                        .map(JavaClass::reflect)
                        .filter(Class::isRecord)
                        .filter(MessageValuesTest::isMessage)
                        .toList();

        messages.forEach(this::check);

        assertThat(messages).hasSizeGreaterThan(40);
        assertThat(mutable).isEmpty();
    }

    private static boolean isMessage(Class<?> type) {
        return type.getSimpleName().equals("Command")
                || type == ClusterEvent.class
                || type == RequestEvent.class
                || Arrays.stream(type.getInterfaces()).anyMatch(MessageValuesTest::isMessage);
    }

    private void check(Class<?> type) {
        if (!seen.add(type)) {
            return;
        }
        if (type.isRecord()) {
            for (var component : type.getRecordComponents()) {
                check(component.getGenericType(), type.getSimpleName() + "." + component.getName());
            }
        } else {
            Arrays.stream(type.getPermittedSubclasses()).forEach(each -> check(each, each.getSimpleName()));
        }
    }

    private void check(Type type, String where) {
        if (type instanceof WildcardType wildcard) {
            check(wildcard.getUpperBounds()[0], where);
        } else if (type instanceof ParameterizedType generic) {
            var raw = (Class<?>) generic.getRawType();
            if (CONTAINERS.contains(raw)) {
                Arrays.stream(generic.getActualTypeArguments()).forEach(each -> check(each, where));
            } else {
                check(raw, where);
            }
        } else {
            check((Class<?>) type, where);
        }
    }

    private void check(Class<?> type, String where) {
        if (type.isPrimitive() || type.isEnum() || type == ActorRef.class || VALUES.contains(type)) {
            return;
        }
        if (type.isRecord() || type.isSealed()) {
            check(type);
        } else {
            mutable.add(where + ": " + type.getName());
        }
    }
}
