package understudy.engine;

/** How the prompts that an engine takes in together are computed. */
public enum PrefillMode {
    /** One forward for each prompt, one after the other (roseinfer before its prefill was batched). */
    SERIAL,
    /** One forward for all prompts that are not cached. */
    BATCHED
}
