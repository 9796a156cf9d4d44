package understudy.jinja;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.LocalDateTime;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.jinja.python.JinjaException;
import understudy.jinja.python.None;

/** Idioms of chat templates, each with the text that Python's jinja2 writes for it. */
final class JinjaTemplateTest {
    private static final LocalDateTime NOW = LocalDateTime.of(2026, 3, 9, 7, 5, 3);
    private static final List<Object> MESSAGES =
            List.of(message("user", "Hi"), message("tool", "1"), message("user", "é"));

    private static Map<Object, Object> message(String role, String content) {
        var message = new LinkedHashMap<Object, Object>();
        message.put("role", role);
        message.put("content", content);
        return message;
    }

    private static String render(String template) {
        return render(template, Map.of());
    }

    private static String render(String template, Map<String, Object> more) {
        var variables = new HashMap<String, Object>(more);
        variables.put("messages", MESSAGES);
        return JinjaTemplate.parse(template).render(variables, 100, () -> NOW);
    }

    /** The line break behind a tag goes, and space before a tag that begins a line; a minus takes all space. */
    @Test
    void space_isTrimmedAroundTags() {
        assertThat(render("a\n  {% if true %}\n  b\n  {% endif %}\nc\n")).isEqualTo("a\n  b\nc");
        assertThat(render("a \n {%- if true -%} \n b {{- 1 -}} \n c {%+ endif +%}\nd"))
                .isEqualTo("ab1c \nd");
        assertThat(render("x {# no #}\n {# no #}\ny {{ 1 }}\n")).isEqualTo("x y 1");
        assertThat(render("{% raw %}{{ x }}{% endraw %}")).isEqualTo("{{ x }}");
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = "->",
            quoteCharacter = '`',
            value = {
                "messages|length - 1 -> 2",
                "messages[1:]|length -> 2",
                "messages[::-1][0].content -> é",
                "messages[-1]['role'] -> user",
                "'abc'[::-1] ~ 'abc'[1:] -> cbabc",
                "'ab' * 2 + 'c' -> ababc",
                "7 // 2, -7 % 3, 7 / 2, 2 ** 5 -> (3, 2, 3.5, 32)",
                "1 ~ 2 + '3' -> 123",
                "'%s-%02d' % ('a', 3) -> a-03",
                "'{} {1}'.format(1, 'b') -> 1 b",
                "none ~ true ~ 1.0 ~ 1e-7 -> NoneTrue1.01e-07",
                "[1, 'it\\'s', none, {'a': (1,)}] -> [1, \"it's\", None, {'a': (1,)}]",
                "1 < 2 < 3 and not 1 == 2 -> True",
                "'' or none or 'x' -> x",
                "'a' and 0 -> 0",
                "nothing ->",
                "'a' if false ->",
                "nothing is defined -> False",
                "not nothing is defined -> True",
                "messages[0].nothing is defined -> False",
                "messages is mapping -> False",
                "messages[0] is mapping -> True",
                "'x' is string and 1 is number -> True",
                "messages is iterable -> True",
                "none is none, 3 is odd -> (True, True)",
                "'role' in messages[0] -> True",
                "'z' not in 'abc' -> True",
                "messages[0].get('x', 'd') -> d",
                "messages[0].get('x') -> None",
                "messages[0].items()|list -> [('role', 'user'), ('content', 'Hi')]",
            })
    void expression_isPythons(String expression, String text) {
        assertThat(render("{{ " + expression + " }}")).isEqualTo(text == null ? "" : text);
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = "->",
            quoteCharacter = '`',
            value = {
                "' x '.strip() ~ 'xax'.lstrip('x') ~ 'xax'.rstrip('x') -> xaxxa",
                "'a b  c'.split() -> ['a', 'b', 'c']",
                "'a</t>b</t>c'.split('</t>')[-1] -> c",
                "'a,b,c'.split(',', 1), 'a,b,c'.rsplit(',', 1) -> (['a', 'b,c'], ['a,b', 'c'])",
                "'abc'.startswith('ab'), 'abc'.endswith(('x', 'c')) -> (True, True)",
                "'abc'.find('c'), 'a.b'.replace('.', '-') -> (2, 'a-b')",
                "'aB c'.upper() ~ 'aB c'.title() ~ 'aB c'.capitalize() -> AB CAb CAb c",
                "'[{:>3}|{:<3}|{:.1f}|{!r}'.format(1, 'x', 2.25, 'q') -> [  1|x  |2.2|'q'",
                "-0.0, 5e-324, 1e16, 123456789012345680.0 -> (-0.0, 5e-324, 1e+16, 1.2345678901234568e+17)",
                "', '.join(['a', 'b']) -> a, b",
                "' a '|trim ~ ('a-b'|title) ~ 'x'|default('y') -> aA-Bx",
                "nothing|default('y') ~ ''|default('z', true) -> yz",
                "messages|map(attribute='role')|join(',') -> user,tool,user",
                "messages|selectattr('role', 'equalto', 'user')|list|length -> 2",
                "messages|rejectattr('role', 'in', ['user'])|map(attribute='content')|list -> ['1']",
                "(messages|first).role ~ (messages|last).content -> useré",
                "[3, 1, 2]|sort, {'b': 1, 'a': 2}|dictsort -> ([1, 2, 3], [('a', 2), ('b', 1)])",
                "'7'|int + 1, 7|string + 'x', 'z'|int -> (8, '7x', 0)",
                "'a\\nb'|indent(2)|replace('\\n', '/') -> a/  b",
                "{'a': 1.0, 'b': [none, true], 'é': '<'}|tojson -> {\"a\": 1.0, \"b\": [null, true], \"é\": \"<\"}",
                "{'a': [1]}|tojson(indent=1)|replace('\\n', '/') -> {/ \"a\": [/  1/ ]/}",
                "{'b': 1, 'a': 2}|tojson(separators=(',', ':'), sort_keys=true) -> {\"a\":2,\"b\":1}",
                "'\\u00e9'|tojson(ensure_ascii=true) -> \"\\u00e9\"",
                "strftime_now('%d %b %Y, %-d %B') -> 09 Mar 2026, 9 March",
            })
    void methodsAndFilters_arePythons(String expression, String text) {
        assertThat(render("{{ " + expression + " }}")).isEqualTo(text);
    }

    @Test
    void loop_knowsWhereItIs() {
        assertThat(render("{% for m in messages %}{{ loop.index }}{{ loop.index0 }}{{ loop.first }}{{"
                        + " loop.previtem.role if loop.previtem is defined }}{% if not loop.last %},{%"
                        + " endif %}{% endfor %}"))
                .isEqualTo("10True,21Falseuser,32Falsetool");
        assertThat(render("{% for m in messages if m.role == 'x' %}{% else %}none{% endfor %}"))
                .isEqualTo("none");
        assertThat(render("{% for i in range(9) %}{% if i == 1 %}{% continue %}{% elif i == 3 %}{% break %}{% endif %}"
                        + "{{ i }}{% endfor %}"))
                .isEqualTo("02");
        assertThat(render("{% for k, v in {'a': 1, 'b': 2}.items() %}{{ k }}{{ v }}{% endfor %}"))
                .isEqualTo("a1b2");
    }

    /** What a loop sets is gone behind it, unless it belongs to a namespace. */
    @Test
    void variable_livesAsLongAsItsBlock() {
        assertThat(render("{% set x = 1 %}{% for m in messages %}{% set x = x + 1 %}{{ x }}{% endfor %}{{ x }}"))
                .isEqualTo("2221");
        assertThat(render("{% set ns = namespace(n=messages|length - 1, s='') %}{% for m in messages %}"
                        + "{% set ns.n = ns.n + 1 %}{% set ns.s = ns.s + 'x' %}{% endfor %}{{ ns.n }}{{ ns.s }}"))
                .isEqualTo("5xxx");
        assertThat(render("{% set x %}a{{ 1 }}{% endset %}{% set a, b = (2, 3) %}{{ x }}{{ a }}{{ b }}"))
                .isEqualTo("a123");
    }

    @Test
    void macro_takesArgumentsAndSeesWhatIsAroundIt() {
        assertThat(render("{% macro f(a, b='-') %}[{{ a }}{{ b }}{{ c }}]{% endmacro %}{% set c = 9 %}"
                        + "{{ f(1) }}{{ f(1, b=2) }}{{ f('x', 'y') }}"))
                .isEqualTo("[1-9][129][xy9]");
        assertThat(render("{% macro f() %}<{{ caller(2) }}>{% endmacro %}{% call(n) f() %}in{{ n }}{% endcall %}"))
                .isEqualTo("<in2>");
        assertThat(render("{% macro f(n) %}{{ n }}{% if n > 0 %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(3) }}"))
                .isEqualTo("3210");
        assertThat(render("{% generation %}a{% endgeneration %}{% filter upper %}b{% endfilter %}"))
                .isEqualTo("aB");
    }

    /** The message is what vLLM's client gets to see. */
    @ParameterizedTest
    @CsvSource(
            delimiterString = "->",
            quoteCharacter = '`',
            value = {
                "{{ raise_exception('no ' ~ 1) }} -> no 1",
                "{{ 'a' + 1 }} -> can only concatenate str (not \"int\") to str",
                "{{ 'a' + none }} -> can only concatenate str (not \"NoneType\") to str",
                "{{ nothing.x }} -> 'nothing' is undefined",
                "{{ messages[0].x.y }} -> 'dict object' has no attribute 'x'",
                "{{ messages[7].role }} -> list object has no element 7",
                "{% for m in none %}{% endfor %} -> 'NoneType' object is not iterable",
                "{{ 'a' in none }} -> argument of type 'NoneType' is not iterable",
                "{{ 1 / 0 }} -> division by zero",
                "{% macro f(a) %}{% endmacro %}{{ f(1, 2) }} -> macro 'f' takes not more than 1 argument(s)",
                "{{ messages.append(1) }} -> access to attribute 'append' of 'list' object is unsafe.",
            })
    void failure_saysWhatPythonSays(String template, String message) {
        assertThatThrownBy(() -> render(template))
                .isInstanceOf(JinjaException.class)
                .hasMessage(message);
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = "->",
            quoteCharacter = '`',
            value = {
                "{{ x -> line 1: unexpected end of template",
                "a/{% if x %} -> line 2: unexpected end of template",
                "{{ x|nosuch }} -> line 1: No filter named 'nosuch'.",
                "{{ x is nosuch }} -> line 1: No test named 'nosuch'.",
                "{% include 'x' %} -> line 1: the tag 'include' is unknown",
                "{{ (1 }} -> line 1: unexpected '}'",
                "{% for x y %} -> line 1: expected 'in', got 'y'",
                "{% break %} -> line 1: 'break' and 'continue' belong into a loop",
            })
    void brokenTemplate_isRefusedWithItsLine(String template, String message) {
        assertThatThrownBy(() -> JinjaTemplate.parse(template.replace('/', '\n')))
                .isInstanceOf(JinjaException.class)
                .hasMessageStartingWith(message);
    }

    /** Each would run for hours, or fill the memory, or the stack. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
                "{% set ns = namespace(s='x') %}{% for a in range(99) %}{% set ns.s = ns.s + ns.s %}{% endfor %}",
                "{{ 'x' * 999999999 }}",
                "{{ range(999999999) }}",
                "{{ 9 ** (9 ** 9) }}",
                "{{ 'x'.center(999999999) }}",
                "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
            })
    void runawayTemplate_isStopped(String template) {
        assertThatThrownBy(() -> render(template)).isInstanceOf(JinjaException.class);
    }

    @Test
    void deepTemplate_isRefused() {
        assertThatThrownBy(() -> JinjaTemplate.parse("{{ " + "(".repeat(100_000) + " }}"))
                .isInstanceOf(JinjaException.class);
        assertThatThrownBy(() -> JinjaTemplate.parse("{% if x %}".repeat(100_000)))
                .isInstanceOf(JinjaException.class);
    }

    @Test
    void contentParts_areReadIfALoopGoesThroughThem() {
        assertThat(readsParts("{% for m in messages %}{{ m.content }}{% endfor %}"))
                .isFalse();
        assertThat(readsParts("{% for m in messages %}{% for p in m['content'] %}{{ p.text }}{% endfor %}{% endfor %}"))
                .isTrue();
        assertThat(readsParts("{% set rest = messages[1:] %}{% for m in rest|reverse %}{% if m.content is string %}"
                        + "{% else %}{% for p in m.content|list %}{% endfor %}{% endif %}{% endfor %}"))
                .isTrue();
        assertThat(readsParts("{% for m in messages %}{% for p in other.content %}{% endfor %}{% endfor %}"))
                .isFalse();
    }

    private static boolean readsParts(String template) {
        return JinjaTemplate.parse(template).readsContentParts();
    }

    @Test
    void none_isNoUndefinedName() {
        var variables = Map.<String, Object>of("tools", None.NONE);

        assertThat(render("{% if tools is defined and tools is none %}{{ tools }}{% endif %}", variables))
                .isEqualTo("None");
    }

    /** The globe takes two of Java's characters, but is one of Python's. */
    @Test
    void characters_areCountedAsPythonCountsThem() {
        assertThat(render("{{ '🌍é'|length }}{{ '🌍é'[1] }}{{ '🌍é'[::-1] }}{{ 'x🌍y'.find('y') }}"))
                .isEqualTo("2éé🌍2");
        assertThat(render("{{ '\u00a0\u2003x\u0085'.strip() }}|{{ ['\u00a0'] }}"))
                .isEqualTo("x|['\\xa0']");
    }
}
