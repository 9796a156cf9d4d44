package understudy.jsonsample;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import org.apache.commons.rng.UniformRandomProvider;

/** Constraint on the form of an answer, if it is not just any text. */
@FunctionalInterface
public interface Constraint {

    /** Returns one of the texts that are allowed. */
    String text(UniformRandomProvider random);

    /** Returns a constraint to JSON of a schema. */
    static Constraint json(SchemaSample schema) {
        return random -> schema.sample(random).toString();
    }

    /** Returns a constraint to some JSON object. */
    static Constraint jsonObject() {
        return json(new SchemaSample(JsonNodeFactory.instance.objectNode(), "response_format"));
    }
}
