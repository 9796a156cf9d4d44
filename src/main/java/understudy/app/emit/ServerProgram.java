package understudy.app.emit;

import java.util.List;
import java.util.Map;
import understudy.routing.Role;
import understudy.settings.Section;

/** The server of an engine, as a scenario's settings start it. */
public interface ServerProgram {
    /** Returns the value of {@code engine.kind} that it stands for. */
    String kind();

    /** Returns the words in front of the model. */
    List<String> words();

    /** Returns the words that name a model. */
    List<String> naming(String model);

    /** Returns the public image that has it, with a tag. */
    String image();

    /** Returns the port that it listens at unless it is told another. */
    int port();

    /** Returns the value of {@code kv-cache.transfer.kv-connector} that its flags for a role stand for. */
    String connector();

    /**
     * Returns flags for as many settings as it has them for.
     *
     * @param changed values that differ from those of {@link #read} without flags, by key; {@code engine}, {@code kv-cache}
     *     and {@code latency} alone
     * @param role part of the process in the cluster
     */
    List<String> flags(Map<String, String> changed, Role role);

    /** Returns the environment variables that the server itself reads, for settings that it has no flags for. */
    Map<String, String> environment(Map<String, String> changed);

    /** Returns the scenario that our own command line makes of a model, flags and an environment. */
    Section read(List<String> words, Map<String, String> environment);
}
