package understudy.jsonsample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.fasterxml.jackson.databind.JsonNode;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.api.RandomSchema;
import understudy.api.http.Json;
import understudy.workload.RandomStreams;

/** JSON that is made up for schemas: always valid, or refused with a reason. */
final class SchemaSampleTest {

    static List<String> schemas() {
        return """
            {"type":"object","properties":{"v":{"type":"string"},"kids":{"type":"array","items":{"$ref":"#"}}},"required":["v","kids"],"additionalProperties":false}
            {"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#"},"minItems":0},"next":{"anyOf":[{"$ref":"#"},{"type":"null"}]}},"required":["kids","next"]}
            {"type":["object","null"],"properties":{"next":{"$ref":"#"}},"required":["next"]}
            {"$ref":"#/$defs/a~1b%20c","$defs":{"a/b c":{"type":"integer","minimum":3,"maximum":3}}}
            {"$ref":"#/$defs/a","minLength":9,"$defs":{"a":{"type":"string","maxLength":12}}}
            {"allOf":[{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]},{"properties":{"a":{"minimum":5,"maximum":6},"b":{"const":1}},"required":["b"]}]}
            {"oneOf":[{"type":"number"},{"type":"integer"}]}
            {"oneOf":[{"type":"integer","multipleOf":3},{"type":"integer","multipleOf":5}]}
            {"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"oneOf":[{"required":["a"]},{"required":["b"]}]}
            {"type":"integer","minimum":1,"maximum":3,"not":{"enum":[1,3]}}
            {"not":{"type":"string"}}
            {"enum":["a",1,null,"b"],"type":"string"}
            {"type":"array","items":{"enum":[1,2,3]},"uniqueItems":true,"minItems":3}
            {"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}],"items":false,"minItems":2}
            {"type":"array","items":{"type":"integer"},"contains":{"const":7},"minContains":2,"minItems":4,"maxItems":5}
            {"type":"object","additionalProperties":{"type":"integer"},"minProperties":3,"maxProperties":3}
            {"type":"object","patternProperties":{"^x_[a-z]{2}$":{"type":"boolean"}},"additionalProperties":false,"minProperties":2}
            {"type":"object","propertyNames":{"pattern":"^[A-Z]{4}$"},"minProperties":2}
            {"type":"object","propertyNames":{"enum":["p","q"]},"minProperties":2}
            {"type":"object","properties":{"a":{"type":"null"},"b":{"type":"null"},"c":{"type":"null"}},"maxProperties":1}
            {"type":"object","properties":{"a":{"type":"null"}},"required":["a"],"dependentRequired":{"a":["z"]}}
            {"type":"object","properties":{"a":{"type":"null"}},"required":["a"],"dependentSchemas":{"a":{"required":["y"]}}}
            {"type":"object","properties":{"kind":{"enum":["a","b"]}},"required":["kind"],"if":{"properties":{"kind":{"const":"a"}}},"then":{"required":["x"]},"else":{"required":["y"]}}
            {"type":"number","minimum":0.1,"maximum":0.35,"multipleOf":0.05}
            {"type":"number","exclusiveMinimum":0,"exclusiveMaximum":0.001}
            {"type":"integer","exclusiveMinimum":4,"exclusiveMaximum":6}
            {"type":"integer","multipleOf":1000}
            {"type":"string","pattern":"^[A-Z]{3}-[0-9]{2}$"}
            {"type":"string","pattern":"^[a-z]+$","minLength":20,"maxLength":22}
            {"type":"string","pattern":"abc","minLength":10}
            {"type":"string","format":"email","pattern":"^(?!\\\\.)[^@]+@[a-z.]+$"}
            {"type":"string","format":"email","minLength":40}
            {"type":"array","items":[{"type":"string"},{"type":"null"}],"additionalItems":false,"$schema":"http://json-schema.org/draft-07/schema#"}
            {"type":["integer","null"],"multipleOf":5,"minimum":-7,"maximum":3}
            {"anyOf":[{"type":"string","pattern":"(?=x)x"},{"const":"y"}]}
            true
            {}
            """.lines().toList();
    }

    @ParameterizedTest
    @MethodSource("schemas")
    void sample_isAcceptedByItsSchema(String text) {
        var schema = Json.read(text);
        for (int seed = 0; seed < 100; seed++) {
            requireValid(schema, sample(schema, seed));
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'type':'number'}",
                "{'type':'number','minimum':0.5,'maximum':9.5}",
                "{'type':'number','exclusiveMinimum':3,'exclusiveMaximum':5}",
                "{'type':'number','minimum':-40}",
                "{'type':['number','null'],'maximum':1.5,'minimum':-1.5}"
            })
    void number_isWhole(String text) {
        for (int seed = 0; seed < 100; seed++) {
            var number = sample(Json.read(text.replace('\'', '"')), seed);

            assertThat(number.isIntegralNumber() || number.isNull())
                    .as(number.toString())
                    .isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'type':'number','minimum':0,'maximum':1}",
                "{'type':'number','minimum':1.2,'maximum':1.8}",
                "{'type':'number','exclusiveMinimum':3,'exclusiveMaximum':4}",
                "{'type':'number','not':{'type':'integer'}}",
                "{'type':'number','multipleOf':0.25,'exclusiveMinimum':0,'maximum':0.75}"
            })
    void number_hasAFractionWhereItsSchemaAsks(String text) {
        for (int seed = 0; seed < 100; seed++) {
            var number = sample(Json.read(text.replace('\'', '"')), seed);

            assertThat(number.decimalValue().stripTrailingZeros().scale()).isPositive();
        }
    }

    @Test
    void longEnumeration_isNoTrouble() {
        String values = IntStream.range(0, 200_000).mapToObj(String::valueOf).collect(Collectors.joining(","));
        var schema = Json.read("{\"type\":\"array\",\"minItems\":3,\"items\":{\"enum\":[" + values + "]}}");

        assertThat(sample(schema, 1)).hasSizeGreaterThanOrEqualTo(3);
    }

    /** The second is the value of a constant, and no keyword. */
    @Test
    void multipleOfNothing_isNoSchema() {
        assertThatExceptionOfType(RefusedSchemaException.class)
                .isThrownBy(() -> new SchemaSample(
                        Json.read("{\"properties\":{\"a\":{\"type\":\"number\",\"multipleOf\":0}}}"), "path"))
                .withMessageContaining("multipleOf must be greater than 0");
        assertThat(sample(Json.read("{\"const\":{\"multipleOf\":0}}"), 1).at("/multipleOf"))
                .hasToString("0");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "date-time",
                "date",
                "time",
                "duration",
                "email",
                "idn-email",
                "hostname",
                "idn-hostname",
                "ipv4",
                "ipv6",
                "uri",
                "uri-reference",
                "iri",
                "iri-reference",
                "uri-template",
                "uuid",
                "json-pointer",
                "relative-json-pointer",
                "regex",
                "something-else"
            })
    void formats_areKept(String format) {
        for (int seed = 0; seed < 20; seed++) {
            var schema = Json.object().put("type", "string").put("format", format);

            // The validator checks formats here, so a sample is proof enough.
            assertThat(sample(schema, seed).isTextual()).isTrue();
        }
    }

    /** The names of what cannot be satisfied. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "finite value |"
                        + " {\"type\":\"object\",\"properties\":{\"next\":{\"$ref\":\"#\"}},\"required\":[\"next\"]}",
                "finite value | {\"type\":\"array\",\"items\":{\"$ref\":\"#\"},\"minItems\":1}",
                "finite value | false",
                "back to itself | {\"$ref\":\"#\"}",
                "back to itself |"
                        + " {\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"$ref\":\"#/$defs/b\"},\"b\":{\"$ref\":\"#/$defs/a\"}}}",
                "back to itself | {\"anyOf\":[{\"type\":\"string\"},{\"$ref\":\"#\"}]}",
                "unresolvable | {\"$ref\":\"#/$defs/none\"}",
                "JSON pointer | {\"$ref\":\"http://127.0.0.1:1/schema.json\"}",
                "`enum` | {\"enum\":[1],\"allOf\":[{\"const\":2}]}",
                "`type` | {\"type\":\"string\",\"allOf\":[{\"type\":\"null\"}]}",
                "`not` | {\"const\":1,\"not\":{}}",
                "`minItems` | {\"type\":\"array\",\"minItems\":1000000000}",
                "`minLength` | {\"type\":\"string\",\"minLength\":1000000000}",
                "`minLength` | {\"type\":\"string\",\"minLength\":5,\"maxLength\":3}",
                "`minProperties` | {\"type\":\"object\",\"minProperties\":1000000000}",
                "`multipleOf` | {\"type\":\"integer\",\"multipleOf\":10,\"minimum\":1,\"maximum\":9}",
                "`maximum` | {\"type\":\"number\",\"maximum\":1,\"minimum\":2}",
                "`pattern` | {\"type\":\"string\",\"pattern\":\"(?=a)b\"}",
                "`pattern` | {\"type\":\"string\",\"pattern\":\"a{5000}\"}",
                "`maxLength` | {\"type\":\"string\",\"pattern\":\"^a{5}$\",\"maxLength\":3}",
                "`uniqueItems` | {\"type\":\"array\",\"items\":{\"const\":1},\"uniqueItems\":true,\"minItems\":2}",
                "Invalid JSON schema | {\"type\":\"string\",\"pattern\":\"[\"}"
            })
    void whatCannotBeSatisfied_isNamed(String example) {
        int bar = example.indexOf('|');

        assertThatExceptionOfType(RefusedSchemaException.class)
                .isThrownBy(() -> sample(Json.read(example.substring(bar + 1)), 1))
                .satisfies(e -> assertThat(e.path()).isEqualTo("schema"))
                .withMessageContaining(example.substring(0, bar).strip());
    }

    /** Thirty definitions, each of which refers to the next one twice: two to the thirtieth ways. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"%s\":[{\"$ref\":\"#/$defs/%d\"},{\"$ref\":\"#/$defs/%d\"}]} allOf",
                "{\"%s\":[{\"$ref\":\"#/$defs/%d\"},{\"$ref\":\"#/$defs/%d\"}]} anyOf",
                "{\"%s\":[{\"$ref\":\"#/$defs/%d\"},{\"$ref\":\"#/$defs/%d\"}]} oneOf",
                "{\"type\":\"array\",\"minItems\":2,\"%s\":[{\"$ref\":\"#/$defs/%d\"},{\"$ref\":\"#/$defs/%d\"}]}"
                        + " prefixItems",
                "{\"not\":{\"%s\":[{\"not\":{\"$ref\":\"#/$defs/%d\"}},{\"not\":{\"$ref\":\"#/$defs/%d\"}}]}} anyOf"
            })
    void sharedReferences_areNoBomb(String line) {
        int space = line.lastIndexOf(' ');
        var root = Json.object().put("$ref", "#/$defs/0");
        var definitions = root.putObject("$defs");
        for (int i = 0; i < 30; i++) {
            String text = line.substring(0, space).formatted(line.substring(space + 1), i + 1, i + 1);
            definitions.set(String.valueOf(i), Json.read(text));
        }
        definitions.putObject("30").put("type", "string");

        assertThatExceptionOfType(RefusedSchemaException.class).isThrownBy(() -> sample(root, 1));
    }

    /** Schemas whose values go on for ever by a way that is not written as a property or an item. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'type':'object','required':['a'],'additionalProperties':{'$ref':'#'}}",
                "{'type':'object','minProperties':3,'additionalProperties':{'$ref':'#'}}",
                "{'type':'object','required':['a'],'patternProperties':{'a':{'$ref':'#'}}}",
                "{'type':'object','minProperties':1,'patternProperties':{'^a':{'$ref':'#'}}}",
                "{'type':'array','allOf':[{'minItems':1},{'items':{'$ref':'#'}}]}",
                "{'type':'object','allOf':[{'required':['a']},{'properties':{'a':{'$ref':'#'}}}]}",
                "{'type':'object','properties':{'b':{'const':1},'a':{'$ref':'#'}},'required':['b'],"
                        + "'dependentRequired':{'b':['a']}}",
                "{'type':'object','properties':{'b':{'const':1},'a':{'$ref':'#'}},'required':['b'],"
                        + "'dependentSchemas':{'b':{'required':['a']}}}",
                "{'$dynamicRef':'#'}",
                "{'$ref':'#/%zz'}"
            })
    void endlessOrBrokenSchema_isRefusedOrSampled(String example) {
        var schema = Json.read(example.replace('\'', '"'));

        var thrown = catchThrowable(() -> requireValid(schema, sample(schema, 1)));

        if (thrown != null) {
            assertThat(thrown).isInstanceOf(RefusedSchemaException.class);
        }
    }

    @Test
    void chainsAndCrowds_areBounded() {
        var chain = Json.object().put("$ref", "#/$defs/0");
        var definitions = chain.putObject("$defs");
        IntStream.range(0, 5000)
                .forEach(i -> definitions.putObject(String.valueOf(i)).put("$ref", "#/$defs/" + (i + 1)));
        definitions.putObject("5000").put("type", "string");
        var crowd = Json.object().put("type", "object");
        var properties = crowd.putObject("properties");
        IntStream.range(0, 50_000).forEach(i -> properties.putObject("p" + i).put("type", "string"));

        assertThatExceptionOfType(RefusedSchemaException.class).isThrownBy(() -> sample(chain, 1));
        assertThat(sample(crowd, 1)).hasSizeBetween(1, 100);
    }

    @Test
    void evilPatterns_areBounded() {
        String evil = "{\"anyOf\":[{\"pattern\":\"^(a+)+(\\\\1)?c$\"},{\"const\":\"" + "a".repeat(60) + "b\"}]}";

        var problem = catchThrowable(() -> IntStream.range(0, 20).forEach(seed -> sample(Json.read(evil), seed)));

        assertThat(problem).hasMessageContaining("too many steps");
    }

    @Test
    void sample_isTheSameForTheSameSeed() {
        for (String text : schemas()) {
            var schema = Json.read(text);

            assertThat(sample(schema, 5)).isEqualTo(sample(schema, 5));
        }
    }

    /** Schemas drawn at random; few of them have no value, or none that is found. */
    @Test
    void randomSchemas_haveValidSamples() {
        var refused = new ArrayList<String>();
        for (int seed = 0; seed < 4000; seed++) {
            var schema = new RandomSchema(new RandomStreams(seed).stream("schema")).draw();
            try {
                requireValid(schema, sample(schema, seed));
            } catch (RefusedSchemaException e) {
                refused.add(e.getMessage() + " " + schema);
            }
        }

        assertThat(refused.size()).as(refused.toString()).isLessThan(4000 / 50);
    }

    private static JsonNode sample(JsonNode schema, long seed) {
        return new SchemaSample(schema, "schema").sample(new RandomStreams(seed).stream("sample"));
    }

    private static void requireValid(JsonNode schema, JsonNode sample) {
        var validator = SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12)
                .getSchema(schema);
        // As the client reads it.
        var answer = Json.read(Json.write(sample));
        assertThat(validator.validate(answer)).as(schema + " has " + answer).isEmpty();
    }
}
