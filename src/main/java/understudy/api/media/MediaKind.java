package understudy.api.media;

import java.util.Locale;

/** Kind of media that a part of a message can be (vLLM's modality). */
public enum MediaKind {
    IMAGE,
    AUDIO,
    VIDEO;

    /** Returns vLLM's word for it. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
