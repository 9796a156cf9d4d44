package understudy.launcher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import understudy.Waiting;

/** When the launcher makes an archive of classes, and when it uses one. */
@DisabledOnOs(OS.WINDOWS)
final class LauncherArchiveTest {
    @TempDir
    private Path directory;

    private LauncherFixture fixture;

    @BeforeEach
    void setUp() throws IOException {
        fixture = new LauncherFixture(directory);
    }

    private void mode(String mode) {
        fixture.environment.put("UNDERSTUDY_ARCHIVE", mode);
    }

    @Test
    void firstStart_leavesTheArchiveToABackgroundProcess_laterOnesUseIt() throws Exception {
        assertThat(fixture.call("run").out()).noneMatch(arg -> arg.contains("Archive"));

        var archive = fixture.awaitArchive();
        assertThat(fixture.call("run").out()).contains("-XX:SharedArchiveFile=" + archive);
        assertThat(fixture.numRehearsals()).isEqualTo(1);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(fixture.cache)))
                .isEqualTo("rwx------");
    }

    @Test
    void now_makesOneForEachJvm_first() throws Exception {
        mode("now");

        assertThat(fixture.call("run").out()).anyMatch(arg -> arg.matches("-XX:SharedArchiveFile=.*/\\d+\\.jsa"));
        assertThat(fixture.call("serve").out()).anyMatch(arg -> arg.startsWith("-XX:SharedArchiveFile="));
        assertThat(fixture.numRehearsals()).isEqualTo(1);
        fixture.environment.put("JAVA_HOME", fixture.jvm("25.0.3").toString());
        assertThat(fixture.call("run").out()).anyMatch(arg -> arg.matches("-XX:AOTCache=.*/\\d+\\.aot"));
        assertThat(fixture.archives()).hasSize(2);
    }

    /** Before JDK 21 a method that waits for a compiler at the end of the rehearsal would never be compiled (JDK-8306460). */
    @Test
    void rehearsalBeforeJdk25_leavesNoMethodWaitingForACompiler() throws Exception {
        mode("now");
        fixture.call("run");
        assertThat(fixture.rehearsals())
                .singleElement()
                .asString()
                .contains("-XX:TieredStopAtLevel=1 -XX:-BackgroundCompilation ");

        fixture.environment.put("JAVA_HOME", fixture.jvm("25.0.3").toString());
        fixture.call("run");
        assertThat(fixture.rehearsals()).singleElement().asString().doesNotContain("Tiered");
    }

    @Test
    void newBuildAtTheSamePlace_getsAnArchiveOfItsOwn() throws Exception {
        mode("now");
        fixture.call("run");

        LauncherFixture.executable(fixture.launcher, LauncherFixture.script().replace("@BUILD@", "another"));
        Files.setLastModifiedTime(fixture.launcher, FileTime.from(Instant.EPOCH));
        fixture.call("run");
        assertThat(fixture.archives()).hasSize(2);
    }

    /** The JVM refuses an archive of a jar that has another time, though its bytes may be the same. */
    @Test
    void jarThatIsNewerThanItsArchive_getsANewOne() throws Exception {
        mode("now");
        fixture.call("run");

        Files.setLastModifiedTime(fixture.launcher, FileTime.from(Instant.now().plusSeconds(60)));
        assertThat(fixture.call("run").out()).noneMatch(arg -> arg.contains("SharedArchiveFile"));
        assertThat(fixture.numRehearsals()).isEqualTo(2);
    }

    @Test
    void off_andNoPlaceForOne_makeNone() throws Exception {
        mode("off");
        assertNoArchive();
        mode("auto");
        fixture.environment.put("XDG_CACHE_HOME", "/dev/null");
        assertNoArchive();
        fixture.environment.remove("XDG_CACHE_HOME");
        assertNoArchive();
    }

    @Test
    void now_saysIfItCannot() throws Exception {
        mode("now");
        fixture.environment.put("XDG_CACHE_HOME", "/dev/null");

        var call = fixture.call("run");
        assertThat(call.exitCode()).isEqualTo(7);
        assertThat(call.err()).containsExactly("understudy: there is no archive of classes, and none could be made");
    }

    private void assertNoArchive() throws Exception {
        var call = fixture.call("run");
        assertThat(call.exitCode()).isEqualTo(7);
        assertThat(call.err()).isEmpty();
        assertThat(call.out()).noneMatch(arg -> arg.contains("Archive"));
        assertThat(fixture.numRehearsals()).isZero();
    }

    @Test
    void archiveThatHasLostItsEnd_isReplaced() throws Exception {
        mode("now");
        fixture.call("run");
        Files.writeString(fixture.awaitArchive(), "arch");

        assertThat(fixture.call("run").out()).anyMatch(arg -> arg.startsWith("-XX:SharedArchiveFile"));
        assertThat(fixture.numRehearsals()).isEqualTo(2);
        assertThat(fixture.awaitArchive()).hasContent("archive");
    }

    /** It is as long as before, so only its time tells. */
    @Test
    void archiveThatHasChangedSinceItWasMade_isReplaced() throws Exception {
        mode("now");
        fixture.call("run");
        var archive = Files.writeString(fixture.awaitArchive(), "ehcrvia\n");
        Files.setLastModifiedTime(archive, FileTime.from(Instant.now().plusSeconds(60)));

        assertThat(fixture.call("run").out()).anyMatch(arg -> arg.startsWith("-XX:SharedArchiveFile"));
        assertThat(fixture.numRehearsals()).isEqualTo(2);
        assertThat(fixture.awaitArchive()).hasContent("archive");
    }

    @Test
    void optionsOfTheUserAboutArchives_standAlone() throws Exception {
        mode("now");
        fixture.call("run");

        fixture.environment.put("UNDERSTUDY_JAVA_OPTS", "-Xshare:off");
        assertThat(fixture.call("run").out()).contains("-Xshare:off").noneMatch(arg -> arg.contains("Archive"));
    }

    @Test
    void folderThatOthersCanWriteTo_isNotTrusted() throws Exception {
        mode("now");
        fixture.call("run");
        Files.setPosixFilePermissions(fixture.cache, PosixFilePermissions.fromString("rwxrwxrwx"));

        assertThat(fixture.call("run").out()).noneMatch(arg -> arg.contains("Archive"));
    }

    @Test
    void folderAndArchiveOfAnotherUser_areNotTrusted() throws Exception {
        assumeTrue((int) Files.getAttribute(directory, "unix:uid") == 0, "only root can give files away");
        mode("now");
        fixture.call("run");
        var archive = fixture.awaitArchive();
        mode("auto");

        Files.setAttribute(archive, "unix:uid", 12345);
        assertThat(fixture.call("run").out()).noneMatch(arg -> arg.contains("Archive"));
        Files.setAttribute(archive, "unix:uid", 0);
        Files.setAttribute(fixture.cache, "unix:uid", 12345);
        assertThat(fixture.call("run").out()).noneMatch(arg -> arg.contains("Archive"));
    }

    @Test
    void twoFirstStartsAtOnce_makeOneArchive() throws Exception {
        mode("now");
        var one = fixture.start(directory, fixture.launcher.toString(), "run");
        var other = fixture.start(directory, fixture.launcher.toString(), "run");

        assertThat(LauncherFixture.end(one).exitCode()).isEqualTo(7);
        assertThat(LauncherFixture.end(other).exitCode()).isEqualTo(7);
        assertThat(fixture.numRehearsals()).isEqualTo(1);
        assertThat(fixture.archives()).hasSize(1);
    }

    @Test
    void lockOfAnotherProcess_holdsForAnHour() throws Exception {
        mode("now");
        fixture.call("run");
        var archive = fixture.awaitArchive();
        Files.delete(archive);
        var lock = Files.createDirectory(Path.of(archive + ".lock"));

        mode("auto");
        fixture.call("run");
        assertThat(fixture.numRehearsals()).isEqualTo(1);
        Files.setLastModifiedTime(lock, FileTime.from(Instant.now().minus(Duration.ofMinutes(61))));
        fixture.call("run");
        assertThat(fixture.awaitArchive()).isEqualTo(archive);
        Waiting.until(() -> !Files.exists(lock));
    }

    @Test
    void rehearsalThatMakesNothing_isNotRepeatedAtOnce() throws Exception {
        mode("now");
        var java = Path.of(fixture.environment.get("JAVA_HOME"), "bin/java");
        LauncherFixture.executable(java, "#!/bin/sh\necho \"$@\" >>\"${0%/bin/java}/rehearsals\"\n");

        // Of three calls two are the user's own.
        assertThat(fixture.call("run").exitCode()).isZero();
        assertThat(fixture.call("run").exitCode()).isZero();
        assertThat(fixture.numRehearsals()).isEqualTo(3);
        assertThat(fixture.archives()).isEmpty();
    }

    @Test
    void onlyTheLastFourArchives_areKept() throws Exception {
        mode("now");
        for (int i = 0; i < 6; i++) {
            fixture.environment.put("JAVA_HOME", fixture.jvm("17.0." + i).toString());
            fixture.call("run");
        }

        assertThat(fixture.archives()).hasSize(4);
    }
}
