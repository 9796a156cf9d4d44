package understudy.api.schema;

import org.apache.commons.rng.UniformRandomProvider;
import understudy.api.http.Json;

/** Constraint on the form of an answer, if it is not just any text. */
@FunctionalInterface
public interface Constraint {

    /** Returns one of the texts that are allowed. */
    String text(UniformRandomProvider random);

    /** Returns a constraint to JSON of a schema. */
    static Constraint json(SchemaSample schema) {
        return random -> Json.write(schema.sample(random));
    }

    /** Returns a constraint to some JSON object. */
    static Constraint jsonObject() {
        return json(new SchemaSample(Json.object(), "response_format"));
    }
}
