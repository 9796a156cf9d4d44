package understudy.jinja.python;

import java.util.LinkedHashMap;
import java.util.Map;

/** Object whose members a template may set, also from within loops (jinja2 {@code namespace}). */
public record Namespace(Map<String, Object> members) {

    public static Namespace of(Arguments arguments) {
        var members = new LinkedHashMap<String, Object>();
        for (var each : arguments.positional()) {
            if (each instanceof Map<?, ?> map) {
                map.forEach((key, value) -> members.put(Text.str(key), value));
            }
        }
        members.putAll(arguments.named());
        return new Namespace(members);
    }
}
