package understudy;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.InstanceofCheck;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.ReferencedClassObject;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.io.IOException;
import java.lang.reflect.ParameterizedType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.pekko.actor.typed.ExtensibleBehavior;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import understudy.api.sidechannel.SideChannelServer;
import understudy.cluster.Cluster;
import understudy.engine.OutputPlan;

/** The rules of the house that the compiler cannot check. */
final class ArchitectureTest {
    private static final JavaClasses MAIN = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("understudy");

    /** The architecture: each room, from the ground up, and the only rooms of ours that it may use. */
    private static final Map<String, Set<String>> MAY_USE = rooms("""
            prompt:
            latency:
            latency.lora: latency
            latency.parquet:
            latency.tables: latency latency.parquet
            transfer:
            kvcache.eviction: prompt
            kvcache.connector: prompt
            kvcache: kvcache.connector kvcache.eviction prompt
            kvcache.content: kvcache kvcache.connector kvcache.eviction prompt
            kvcache.hybrid: kvcache kvcache.connector kvcache.content kvcache.eviction prompt
            kvcache.session: kvcache kvcache.content kvcache.hybrid prompt
            kvcache.tier: kvcache.connector prompt
            engine.queue: prompt
            engine.speculation:
            engine.lora: latency
            engine: engine.lora engine.queue engine.speculation kvcache kvcache.connector latency prompt
            routing: engine engine.lora kvcache prompt workload
            routing.policy: engine engine.lora kvcache prompt routing routing.index workload
            routing.index: kvcache prompt
            routing.admission: engine prompt routing
            workload: engine prompt
            workload.trace: engine prompt workload
            workload.servegen: prompt workload workload.trace
            workload.agentic: engine prompt workload workload.trace
            faults: workload
            report.latency:
            report.transfers: engine kvcache kvcache.connector report.latency transfer
            report.engine: engine.lora engine.speculation
            report: engine engine.lora engine.speculation kvcache kvcache.connector latency prompt report.engine report.latency report.transfers
            report.html: report.latency
            report.trace:
            report.run: kvcache kvcache.connector prompt report report.html report.latency
            scaling: faults latency report report.latency
            replay.cache:
            replay: replay.cache report.html workload.trace
            describe: prompt replay report report.html report.latency workload.trace
            runtime:
            cluster.lockstep: latency runtime
            cluster.link: faults kvcache.connector kvcache.tier runtime transfer
            cluster.sidechannel: kvcache.connector
            cluster.orders:
            cluster: cluster.link cluster.lockstep cluster.orders cluster.sidechannel engine engine.lora engine.speculation faults kvcache kvcache.connector kvcache.content kvcache.session kvcache.tier \
                latency prompt report report.transfers routing routing.admission routing.policy runtime scaling transfer workload workload.trace
            host: cluster report runtime
            host.watch: cluster faults kvcache.connector prompt report report.run report.trace report.transfers routing
            conform: cluster cluster.lockstep engine engine.lora engine.queue engine.speculation kvcache kvcache.connector kvcache.content kvcache.session kvcache.tier latency prompt report \
                routing routing.policy runtime workload workload.trace
            api.http: faults host runtime
            api.jinja: api.jinja.python
            api.jinja.python:
            api.schema: api.http
            api.model: api.http api.jinja api.jinja.python api.schema engine prompt workload
            api.call: api.http api.model api.schema cluster cluster.orders cluster.sidechannel engine faults host kvcache.connector prompt report runtime workload.trace
            api.metrics: api.call api.model cluster engine engine.lora engine.speculation faults kvcache kvcache.connector prompt report report.transfers routing \
                runtime transfer
            api.live: api.call api.http cluster faults kvcache kvcache.connector prompt report report.html report.transfers routing \
                runtime transfer
            api.kvevents: cluster kvcache prompt
            api.admin: api.call api.http cluster faults host runtime workload
            api.sidechannel: api.call api.http cluster cluster.sidechannel host kvcache.connector runtime
            api.openai: api.call api.http api.model api.schema cluster cluster.orders faults prompt runtime
            api.dev: api.call api.http api.model api.openai cluster engine engine.queue faults kvcache
            api.anthropic: api.call api.http api.model api.openai prompt
            api: api.admin api.anthropic api.call api.dev api.http api.kvevents api.live api.metrics api.model api.openai api.sidechannel cluster faults host \
                kvcache routing runtime workload
            scenario.keys: routing workload
            scenario.workload: api.model scenario.keys workload workload.agentic workload.servegen workload.trace
            scenario: api.call api.http api.kvevents api.model cluster cluster.link cluster.lockstep engine engine.lora engine.queue engine.speculation faults kvcache \
                kvcache.connector kvcache.eviction kvcache.tier latency latency.lora latency.tables prompt report report.run routing \
                routing.admission \
                routing.policy \
                scaling scenario.keys scenario.workload transfer workload workload.trace
            fidelity: latency report report.html report.latency scenario scenario.keys workload workload.trace
            fidelity.cells: report report.html scenario scenario.keys sweep workload workload.trace
            bench.result: report report.html report.latency workload
            bench: api.model bench.result engine prompt runtime scenario scenario.keys workload
            fuzz: cluster engine engine.queue engine.speculation faults host kvcache kvcache.eviction kvcache.session prompt report routing routing.policy runtime scenario scenario.keys \
                workload
            sweep: cluster host report report.html report.latency scenario scenario.keys workload
            sweep.remote: scenario scenario.keys sweep
            app.console: scenario
            app.replay: replay report scenario scenario.keys
            app.vllm: scenario scenario.keys
            app: api api.call api.http api.kvevents app.console app.replay app.vllm bench bench.result cluster conform describe engine fidelity fidelity.cells fuzz host \
                host.watch latency latency.tables replay report report.run routing runtime scenario scenario.keys sweep sweep.remote workload workload.agentic workload.servegen workload.trace
            testkit: api api.call api.http api.kvevents cluster cluster.orders engine faults host kvcache prompt report report.latency runtime scenario
            """);

    /** No Pekko, no clock, no thread, no unseeded random. */
    private static final Set<String> PURE = Set.of(
            "api.jinja",
            "prompt",
            "latency",
            "kvcache",
            "engine",
            "routing",
            "workload",
            "faults",
            "report",
            "bench.result",
            "scaling",
            "replay",
            "describe",
            "transfer");

    /** Source files in one package. */
    private static final int MAX_FILES = 30;

    private static final int MAX_LINES = 300;
    private static final int MAX_TEST_LINES = 400;

    /** One subject, and small methods only. */
    private static final List<String> LONGEST = List.of("EventLoop.java");

    private static Map<String, Set<String>> rooms(String table) {
        return table.lines()
                .map(line -> line.split(":", 2))
                .collect(Collectors.toMap(
                        room -> room[0],
                        room -> Set.copyOf(List.of(room[1].trim().split(" +"))),
                        (a, b) -> a,
                        TreeMap::new));
    }

    static Set<String> packages() {
        return MAY_USE.keySet();
    }

    @ParameterizedTest
    @MethodSource("packages")
    void packageUsesOnlyWhatItMay(String name) {
        var forbidden = new TreeSet<>(MAY_USE.keySet());
        forbidden.removeAll(MAY_USE.get(name));
        forbidden.remove(name);

        noClasses()
                .that()
                .resideInAPackage("understudy." + name)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        forbidden.stream().map(room -> "understudy." + room).toArray(String[]::new))
                .check(MAIN);
    }

    @Test
    void theTableHasExactlyOurPackages() {
        var found = MAIN.stream()
                .map(c -> c.getPackageName().substring("understudy.".length()))
                .collect(Collectors.toSet());

        assertThat(MAY_USE.keySet()).isEqualTo(found);
    }

    @Test
    void packagesAreFreeOfCycles() {
        slices().matching("understudy.(**)").should().beFreeOfCycles().check(MAIN);
    }

    @ParameterizedTest
    @MethodSource("packages")
    void packageStaysSmall(String name) throws IOException {
        try (var files = Files.list(Path.of("src/main/java/understudy", name.replace('.', '/')))) {
            var classes = files.map(file -> file.getFileName().toString())
                    .filter(file -> file.endsWith(".java") && !file.equals("package-info.java"))
                    .toList();

            assertThat(classes).hasSizeLessThanOrEqualTo(MAX_FILES);
        }
    }

    @Test
    void pureCodeKnowsNoActorsAndNoThreads() {
        noClasses()
                .that()
                .resideInAnyPackage(subpackages(PURE))
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "org.apache.pekko..", "scala..", "com.typesafe..", "java.util.concurrent..", "org.slf4j..")
                .orShould()
                .dependOnClassesThat()
                .belongToAnyOf(Thread.class, ThreadLocal.class)
                .check(MAIN);
        fields().that()
                .areDeclaredInClassesThat()
                .resideInAnyPackage(subpackages(PURE))
                .should()
                .notHaveModifier(JavaModifier.VOLATILE)
                .check(MAIN);
    }

    @Test
    void onlyTheRuntimeReadsTheMachinesClock() {
        noClasses()
                .that()
                .resideOutsideOfPackage("understudy.runtime")
                .should()
                .callMethod(System.class, "nanoTime")
                .orShould()
                .callMethod(System.class, "currentTimeMillis")
                .orShould()
                .callMethod(Instant.class, "now")
                .orShould()
                .callMethod(Thread.class, "sleep", long.class)
                .check(MAIN);
    }

    @Test
    void randomnessHasASeed() {
        // A process has an id that nobody guesses, which is no part of what it emulates.
        noClasses()
                .that()
                .doNotBelongToAnyOf(SideChannelServer.class)
                .should()
                .callMethod(Math.class, "random")
                .orShould()
                .callConstructor(Random.class)
                .orShould()
                .callConstructor(SplittableRandom.class)
                .orShould()
                .callMethod(UUID.class, "randomUUID")
                .orShould()
                .dependOnClassesThat()
                .belongToAnyOf(ThreadLocalRandom.class, SecureRandom.class)
                .check(MAIN);
    }

    @Test
    void emulatedActorsNeverWait() {
        noClasses()
                .that()
                .resideInAPackage("understudy.cluster..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("java.util.concurrent..", "scala.concurrent..")
                .check(MAIN);
    }

    @Test
    void onlyTheSamplerReadsTheLengthOfAnAnswer() {
        noClasses()
                .that()
                .doNotHaveFullyQualifiedName("understudy.engine.OutputSampler")
                .and()
                .doNotHaveFullyQualifiedName("understudy.engine.OutputPlan")
                .should()
                .callMethod(OutputPlan.class, "length")
                .check(MAIN);
    }

    @Test
    void everyActorHandlesItsWholeProtocol() {
        classes()
                .that()
                .areAssignableTo(ExtensibleBehavior.class)
                .should(registerAHandlerForEveryCommand())
                .check(MAIN);
    }

    /** The guardian is made of functions, so its handlers stand in several methods. */
    @Test
    void runningClusterHandlesTheWholeProtocolOfTheGuardian() {
        var handled = MAIN.get("understudy.cluster.RunningCluster").getMethods().stream()
                .flatMap(method -> method.getReferencedClassObjects().stream())
                .map(ReferencedClassObject::getRawType)
                .map(JavaClass::reflect)
                .toList();

        assertThat(handled).contains(Cluster.Command.class.getPermittedSubclasses());
    }

    @Test
    void filesStayReadable() throws IOException {
        try (var files = Files.walk(Path.of("src"))) {
            var tooLong = files.filter(file -> file.toString().endsWith(".java"))
                    .filter(file -> LONGEST.stream().noneMatch(file::endsWith) && lines(file) > maxLines(file))
                    .toList();

            assertThat(tooLong).isEmpty();
        }
    }

    private static int maxLines(Path file) {
        return file.startsWith(Path.of("src", "main")) ? MAX_LINES : MAX_TEST_LINES;
    }

    private static long lines(Path file) {
        try (var lines = Files.lines(file)) {
            return lines.count();
        } catch (IOException e) {
            throw new AssertionError(file + " cannot be read", e);
        }
    }

    private static String[] subpackages(Set<String> names) {
        return names.stream().map(name -> "understudy." + name + "..").toArray(String[]::new);
    }

    /** What {@code switch} over a sealed interface checks on Java 21, for receive builders and type tests on 17. */
    private static ArchCondition<JavaClass> registerAHandlerForEveryCommand() {
        return new ArchCondition<>("register a handler for every permitted Command") {
            @Override
            public void check(JavaClass actor, ConditionEvents events) {
                var registered = actor.getReferencedClassObjects().stream().map(ReferencedClassObject::getRawType);
                var tested = actor.getInstanceofChecks().stream().map(InstanceofCheck::getRawType);
                var handled = Stream.concat(registered, tested)
                        .map(JavaClass::getName)
                        .collect(Collectors.toSet());
                for (Class<?> command : commandType(actor).getPermittedSubclasses()) {
                    boolean ok = handled.contains(command.getName());
                    events.add(new SimpleConditionEvent(
                            actor, ok, actor.getSimpleName() + " does not handle " + command.getSimpleName()));
                }
            }
        };
    }

    /** Returns the messages of an actor, which stand in its class, or in that of the actor whose phase it is. */
    private static Class<?> commandType(JavaClass actor) {
        var behavior = (ParameterizedType) actor.reflect().getGenericSuperclass();
        return (Class<?>) behavior.getActualTypeArguments()[0];
    }
}
