package understudy;

import static com.tngtech.archunit.base.DescribedPredicate.anyElementThat;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
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
import java.lang.reflect.ParameterizedType;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.pekko.actor.typed.ExtensibleBehavior;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.api.sidechannel.SideChannelServer;
import understudy.chaos.tls.ReplicaCertificates;
import understudy.cluster.Cluster;
import understudy.engine.OutputPlan;
import understudy.sweep.remote.Secret;

/** The rules of the house that the compiler cannot check. */
final class ArchitectureTest {
    private static final JavaClasses MAIN = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("understudy");

    /** With the tests. */
    private static final JavaClasses EVERYTHING = new ClassFileImporter().importPackages("understudy");

    private static final int MANY_COMPONENTS = 10;

    /** The floors of the house, from the ground up: a room may use those below it and, without a circle, its neighbours. */
    private static final List<Set<String>> FLOORS = List.of(
            Set.of("prompt", "settings", "json", "figure", "jinja", "jsonsample", "parquet"),
            Set.of(
                    "latency",
                    "transfer",
                    "kvcache",
                    "engine",
                    "workload",
                    "report",
                    "routing",
                    "faults",
                    "scaling",
                    "replay",
                    "describe"),
            Set.of("runtime", "cluster"),
            Set.of("host", "conform"),
            Set.of("api"),
            Set.of("scenario"),
            Set.of("sweep", "plan", "bench", "fuzz", "fidelity", "adopt", "chaos", "testkit"),
            Set.of("app"));

    /** No Pekko, no clock, no thread, no unseeded random. */
    private static final Set<String> PURE = Set.of(
            "jinja",
            "jsonsample",
            "parquet",
            "json",
            "figure",
            "prompt",
            "latency",
            "kvcache",
            "engine",
            "routing",
            "workload",
            "faults",
            "report",
            "bench.result",
            "fidelity.probe",
            "scaling",
            "replay",
            "describe",
            "adopt",
            "plan",
            "chaos.evidence",
            "chaos.law",
            "chaos.autoscaler.evidence",
            "chaos.autoscaler.law",
            "transfer");

    static Stream<Set<String>> floors() {
        return FLOORS.stream();
    }

    @ParameterizedTest
    @MethodSource("floors")
    void roomsUseNothingAboveThem(Set<String> floor) {
        var above = FLOORS.subList(FLOORS.indexOf(floor) + 1, FLOORS.size()).stream()
                .flatMap(Set::stream)
                .collect(Collectors.toSet());

        noClasses()
                .that()
                .resideInAnyPackage(subpackages(floor))
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(subpackages(above))
                .check(MAIN);
    }

    @Test
    void everyRoomStandsOnOneFloor() {
        var found = MAIN.stream()
                .map(c -> c.getPackageName().replaceFirst("understudy\\.([^.]+).*", "$1"))
                .distinct()
                .toList();

        assertThat(FLOORS.stream().flatMap(Set::stream)).containsExactlyInAnyOrderElementsOf(found);
    }

    /** Each could be an artifact of its own. */
    @ParameterizedTest
    @ValueSource(strings = {"jinja", "jsonsample", "parquet"})
    void libraryKnowsNothingOfTheHouse(String library) {
        noClasses()
                .that()
                .resideInAPackage("understudy." + library + "..")
                .should()
                .dependOnClassesThat(
                        resideInAPackage("understudy..").and(resideOutsideOfPackage("understudy." + library + "..")))
                .check(MAIN);
    }

    /** Readers with other settings are made from the one mapper. */
    @Test
    void jsonHasOneMapper() {
        noClasses()
                .that()
                .resideOutsideOfPackage("understudy.json")
                .should()
                .callConstructor(ObjectMapper.class)
                .orShould()
                .callConstructor(JsonMapper.class)
                .orShould()
                .callMethod(JsonMapper.class, "builder")
                .orShould()
                .callMethod(JsonMapper.class, "builder", JsonFactory.class)
                .check(MAIN);
    }

    @Test
    void packagesAreFreeOfCycles() {
        slices().matching("understudy.(**)").should().beFreeOfCycles().check(MAIN);
    }

    /** Rooms of behaviours, which actors know by their protocols and factories alone. */
    private static final String[] BEHAVIOURS = Stream.of("router", "replica", "memory", "device", "guardian", "run")
            .map(room -> "understudy.cluster." + room + "..")
            .toArray(String[]::new);

    /** Whoever makes a specification chooses the actors that it is run with; all others know protocols. */
    @Test
    void onlySpecificationsAndHostsChooseTheActorsOfACluster() {
        slices().matching("understudy.cluster.(router|replica|memory|device|guardian|run)..")
                .should()
                .notDependOnEachOther()
                .check(MAIN);
        noClasses()
                .that()
                .resideOutsideOfPackages(BEHAVIOURS)
                .and()
                .resideOutsideOfPackages("understudy.host", "understudy.scenario", "understudy.conform..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(BEHAVIOURS)
                .check(MAIN);
    }

    /** Recordings and the fuzzer's draws are about one family; whoever else asked would have to know them all. */
    @Test
    void nothingAsksOfWhichFamilyAnEngineIs() {
        var families =
                new String[] {"understudy.engine.vllm..", "understudy.engine.sglang..", "understudy.engine.roseinfer.."
                };

        noClasses()
                .that()
                .resideOutsideOfPackages(
                        "understudy.engine.vllm..",
                        "understudy.engine.sglang..",
                        "understudy.engine.roseinfer..",
                        "understudy.engine.family..",
                        "understudy.conform..",
                        "understudy.fuzz..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(families)
                .check(MAIN);
        slices().matching("understudy.engine.(vllm|sglang|roseinfer)..")
                .should()
                .notDependOnEachOther()
                .check(MAIN);
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

    /** Rooms that set up Pekko use the same parser, for settings that are no part of a scenario. */
    @Test
    void onlySettingsUseTheParserOfScenarios() {
        noClasses()
                .that()
                .resideOutsideOfPackages(
                        "understudy.settings",
                        "understudy.runtime",
                        "understudy.api",
                        "understudy.api.http",
                        "understudy.chaos.gateway.reference",
                        "understudy.sweep.remote")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("com.typesafe.config..")
                .check(MAIN);
        methods()
                .that()
                .arePublic()
                .and()
                .areDeclaredInClassesThat()
                .resideInAPackage("understudy.settings")
                .and()
                .areDeclaredInClassesThat()
                .arePublic()
                .should()
                .notHaveRawReturnType(resideInAPackage("com.typesafe.config.."))
                .andShould()
                .notHaveRawParameterTypes(anyElementThat(resideInAPackage("com.typesafe.config..")))
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
        // A process has an id and a secret that nobody guesses, and a store of keys a password: no part of what is
        // emulated.
        noClasses()
                .that()
                .doNotBelongToAnyOf(SideChannelServer.class, Secret.class, ReplicaCertificates.class)
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

    /** So many values in a row say nothing about what they are: builders and {@code with} methods name each. */
    @Test
    void recordsOfManyComponentsAreMadeByName() {
        classes().should(makeLargeRecordsByName()).check(EVERYTHING);
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
        var handled = MAIN.get("understudy.cluster.guardian.RunningCluster").getMethods().stream()
                .flatMap(method -> method.getReferencedClassObjects().stream())
                .map(ReferencedClassObject::getRawType)
                .map(JavaClass::reflect)
                .toList();

        assertThat(handled).contains(Cluster.Command.class.getPermittedSubclasses());
    }

    private static String[] subpackages(Set<String> names) {
        return names.stream().map(name -> "understudy." + name + "..").toArray(String[]::new);
    }

    private static ArchCondition<JavaClass> makeLargeRecordsByName() {
        return new ArchCondition<>("make records of " + MANY_COMPONENTS + " or more components by name") {
            @Override
            public void check(JavaClass caller, ConditionEvents events) {
                for (var call : caller.getConstructorCallsFromSelf()) {
                    var made = call.getTargetOwner();
                    boolean isLarge = made.isRecord()
                            && made.getFields().stream()
                                            .filter(field ->
                                                    !field.getModifiers().contains(JavaModifier.STATIC))
                                            .count()
                                    >= MANY_COMPONENTS;
                    if (isLarge && made.getPackageName().startsWith("understudy")) {
                        boolean ok = topLevel(caller).equals(topLevel(made))
                                || topLevel(caller).equals(builder(made));
                        events.add(new SimpleConditionEvent(caller, ok, call.getDescription()));
                    }
                }
            }
        };
    }

    private static String topLevel(JavaClass of) {
        return of.getName().replaceFirst("\\$.*", "");
    }

    /** Returns the name of the class that the annotation processor makes for a record. */
    private static String builder(JavaClass made) {
        return made.getName().replace("$", "") + "Builder";
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
