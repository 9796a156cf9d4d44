package understudy.api.sglang;

import java.util.OptionalInt;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import understudy.api.call.LoraAdapters;
import understudy.api.http.ApiException;
import understudy.api.http.JsonBody;

/**
 * Choice of a LoRA adapter ({@code entrypoints/openai/serving_base.py}, {@code _resolve_lora_path}, and {@code
 * managers/tokenizer_manager.py}, {@code _validate_and_resolve_lora}).
 *
 * @param replica the one behind the port, or empty for all
 */
record AdapterNames(LoraAdapters loras, OptionalInt replica) {

    /**
     * Returns the adapter that a call names behind the model, as in {@code base:adapter}, or else in {@code lora_path}; null
     * for none. Refuses one that was never loaded.
     *
     * @param model as asked for, or null where calls name none
     */
    @Nullable String choose(JsonBody body, @Nullable String model) {
        String name = ofModel(model);
        if (name == null) {
            name = path(body);
        }
        if (name == null) {
            return null;
        }
        if (!loras.areEnabled()) {
            throw ApiException.badRequest(
                    "LoRA adapter '" + name + "' was requested, but LoRA is not enabled. Please launch the server with"
                            + " --enable-lora flag and preload adapters using --lora-paths or /load_lora_adapter"
                            + " endpoint.",
                    null);
        }
        if (!loras.isKnown(name, replica)) {
            throw ApiException.badRequest(
                    "Got LoRA adapter that has never been loaded: " + name + "\nAll loaded adapters: " + keys() + ".",
                    null);
        }
        return name;
    }

    private static @Nullable String ofModel(@Nullable String model) {
        int colon = model == null ? -1 : model.indexOf(':');
        String name =
                colon < 0 ? "" : String.valueOf(model).substring(colon + 1).strip();
        return name.isEmpty() ? null : name;
    }

    /** Of a list with one for each prompt, the first is taken. */
    private static @Nullable String path(JsonBody body) {
        var given = body.get("lora_path");
        if (given != null && given.isArray()) {
            return given.path(0).textValue();
        }
        String name = body.text("lora_path");
        return name == null || name.isEmpty() ? null : name;
    }

    /** Returns the names as Python shows the keys of a dictionary. */
    String keys() {
        return loras.at(replica).stream()
                .map(adapter -> "'" + adapter.name() + "'")
                .collect(Collectors.joining(", ", "dict_keys([", "])"));
    }
}
