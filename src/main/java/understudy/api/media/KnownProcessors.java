package understudy.api.media;

import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/** Processors of the models that are known by their names, wherever these stand in a name or a path. */
public final class KnownProcessors {
    private static final List<Rule> RULES = List.of(
            rule("qwen2\\.?5-omni", MediaProcessor.QWEN2_5_OMNI),
            rule("qwen3-omni", MediaProcessor.QWEN3_OMNI),
            rule("qwen2(\\.5)?-vl|qvq|ui-tars|olmocr|mimo-vl", MediaProcessor.QWEN2_VL),
            rule("qwen3-vl|qwen3\\.[5-9]", MediaProcessor.QWEN3_VL),
            rule("llava-(v1\\.6|next|onevision)|llava-v?1\\.6", MediaProcessor.LLAVA_NEXT),
            rule("llava|bakllava", MediaProcessor.LLAVA),
            rule("gemma-?3-(1b|270m)", MediaProcessor.NONE),
            rule("gemma-?3|medgemma", MediaProcessor.GEMMA3),
            rule("pixtral", MediaProcessor.PIXTRAL),
            rule(
                    "mistral-small-(3\\.[12]|2503|2506|4)|mistral-small-3\\.|ministral-3|mistral-medium|mistral-large-3"
                            + "|magistral-small-(2509|1\\.2)|devstral-small-2",
                    MediaProcessor.MISTRAL3),
            rule("internvl|interns1", MediaProcessor.INTERNVL),
            rule(
                    "(^|[-_/.])(vl|vlm|vision|omni|audio|ocr|multimodal|4[.]?[0-9]*v)([-_/.]|$)|gemma-?(3n|4)|llama-4|kimi-k2\\.[5-9]"
                            + "|minicpm-v|minicpm-o|molmo|paligemma|idefics|smolvlm|ultravox|voxtral|glm-4(\\.[0-9])?v|step3"
                            + "|ovis|aria|fuyu|phi-?[34]\\.?5?-(v|mm)",
                    MediaProcessor.TOKENS),
            rule(
                    "llama|qwen|deepseek|mixtral|mistral|gpt-oss|gemma|phi-|(^|/)opt-|glm-|kimi-k2|kimi-linear|minimax"
                            + "|falcon|granite|olmo|command-r|tinyllama|vicuna|codestral|starcoder|bloom|gpt2|pythia|nemotron"
                            + "|ernie|hunyuan|internlm|yi-[0-9]|baichuan|bge-|e5-|gte-|smollm|lfm2",
                    MediaProcessor.NONE));

    private record Rule(Pattern name, MediaProcessor processor) {}

    private KnownProcessors() {}

    private static Rule rule(String name, MediaProcessor processor) {
        return new Rule(Pattern.compile(name), processor);
    }

    /** Returns the processor of a model; one that is not known has so many tokens as the settings say. */
    public static MediaProcessor of(String model) {
        String name = model.toLowerCase(Locale.ROOT).replace('_', '-');
        return RULES.stream()
                .filter(rule -> rule.name.matcher(name).find())
                .findFirst()
                .map(Rule::processor)
                .orElse(MediaProcessor.TOKENS);
    }
}
