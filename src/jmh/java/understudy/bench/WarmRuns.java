package understudy.bench;

import com.sun.management.OperatingSystemMXBean;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.util.Arrays;

/**
 * Main class of a JVM that calls the program several times over, and says after each call how long it took: wall and CPU
 * nanoseconds of the whole process. It knows nothing of the program but its main class, so that it runs any version.
 */
final class WarmRuns {
    private WarmRuns() {}

    /** Takes the name of the main class, the number of calls, and the program's own arguments. */
    public static void main(String[] args) throws ReflectiveOperationException {
        var program = Class.forName(args[0]).getMethod("main", String[].class);
        int repeat = Integer.parseInt(args[1]);
        var arguments = Arrays.copyOfRange(args, 2, args.length);
        var os = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        var out = System.out;
        System.setOut(new PrintStream(OutputStream.nullOutputStream()));
        for (int i = 0; i < repeat; i++) {
            long wallNanos = System.nanoTime();
            long cpuNanos = os.getProcessCpuTime();
            program.invoke(null, (Object) arguments);
            out.println((System.nanoTime() - wallNanos) + " " + (os.getProcessCpuTime() - cpuNanos));
        }
    }
}
