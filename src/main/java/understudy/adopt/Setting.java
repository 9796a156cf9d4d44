package understudy.adopt;

/**
 * A setting of an adopted scenario.
 *
 * @param value as a scenario has it, without quotes
 * @param where the place that says so, or the rule, in words for a comment
 */
public record Setting(String key, String value, String where) {}
