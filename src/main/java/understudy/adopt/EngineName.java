package understudy.adopt;

/** Engine of a server that can be adopted. */
public enum EngineName {
    VLLM("vLLM"),
    SGLANG("SGLang");

    private final String title;

    EngineName(String title) {
        this.title = title;
    }

    /** Returns the name as its makers write it. */
    public String title() {
        return title;
    }
}
