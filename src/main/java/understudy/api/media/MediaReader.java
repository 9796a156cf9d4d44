package understudy.api.media;

import com.fasterxml.jackson.databind.JsonNode;
import it.unimi.dsi.fastutil.HashCommon;
import java.io.IOException;
import java.io.InputStream;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import understudy.api.http.ApiException;

/** Reader of the media of one request; refuses what vLLM refuses. Nothing is fetched. */
public final class MediaReader {
    /** Pixels above which the library that vLLM reads pictures with takes them for an attack. */
    private static final long MAX_PIXELS = 178_956_970;

    private static final int MAX_TOKENS = 999_999_999;
    private static final String BASE64 = ";base64";

    private final MediaSettings settings;
    private final Map<MediaKind, Integer> counts = new EnumMap<>(MediaKind.class);

    public MediaReader(MediaSettings settings) {
        this.settings = settings;
    }

    /**
     * Returns the mark that stands in the prompt for a part of a message, or null if the part is none of these media.
     *
     * @param path of the message's content, for errors
     */
    public @Nullable String mark(JsonNode part, String path) {
        String type = part.path("type").asText("");
        return switch (type) {
            case "image_url", "input_image" -> image(part, url(part, "image_url", path));
            case "video_url" -> video(part, url(part, "video_url", path));
            case "audio_url" -> audio(part, url(part, "audio_url", path));
            case "input_audio" -> inputAudio(part, path);
            default -> null;
        };
    }

    /** Returns the address of a part, which stands in an object or, in some dialects, by itself. */
    private static String url(JsonNode part, String key, String path) {
        var holder = part.path(key);
        var url = holder.isObject() ? holder.path("url") : holder;
        if (url.isTextual()) {
            return url.textValue();
        }
        throw url.isMissingNode() || url.isNull()
                ? ApiException.invalid("Field required", path + "." + key + (holder.isObject() ? ".url" : ""))
                : ApiException.invalid("Input should be a valid string", path + "." + key);
    }

    private String image(JsonNode part, String url) {
        count(MediaKind.IMAGE);
        int data = dataOf(url);
        var size = data < 0 ? settings.defaultSize() : size(Base64Text.bytes(url, data));
        int numTokens = settings.processor().imageTokens(size, settings.pixels(), settings.imageTokens());
        return placeholder(part, url, numTokens);
    }

    private static ImageSize size(InputStream bytes) {
        ImageSize size;
        try {
            size = ImageSize.read(bytes);
        } catch (IOException e) {
            throw ApiException.badRequest("Failed to load image: cannot identify image file", null);
        }
        long pixels = (long) size.width() * size.height();
        if (pixels > MAX_PIXELS) {
            throw ApiException.badRequest(
                    "Failed to load image: Image size (" + pixels + " pixels) exceeds limit of " + MAX_PIXELS
                            + " pixels, could be decompression bomb DOS attack.",
                    null);
        }
        return size;
    }

    private String video(JsonNode part, String url) {
        count(MediaKind.VIDEO);
        dataOf(url);
        return placeholder(part, url, (double) settings.videoFrames() * settings.videoTokensPerFrame());
    }

    private String audio(JsonNode part, String url) {
        count(MediaKind.AUDIO);
        int data = dataOf(url);
        double seconds = data < 0 ? settings.defaultAudioSeconds() : seconds(url, data);
        return placeholder(part, url, Math.ceil(seconds * settings.audioTokensPerSecond()));
    }

    private String inputAudio(JsonNode part, String path) {
        count(MediaKind.AUDIO);
        var data = part.path("input_audio").path("data");
        if (!data.isTextual()) {
            throw ApiException.invalid("Field required", path + ".input_audio.data");
        }
        double seconds = seconds(data.textValue(), 0);
        return placeholder(part, data.textValue(), Math.ceil(seconds * settings.audioTokensPerSecond()));
    }

    /** Returns the length of audio: that of a WAV file stands in its header, others have the length of the settings. */
    private double seconds(String text, int from) {
        byte[] head;
        try {
            head = Base64Text.bytes(text, from).readNBytes(44);
        } catch (IOException e) {
            throw ApiException.badRequest("Failed to load audio: Invalid base64-encoded string", null);
        }
        if (head.length == 0) {
            throw ApiException.badRequest("Failed to load audio: Format not recognised.", null);
        }
        boolean isWav = head.length == 44
                && head[0] == 'R'
                && head[1] == 'I'
                && head[2] == 'F'
                && head[3] == 'F'
                && head[8] == 'W'
                && head[9] == 'A';
        if (!isWav) {
            return settings.defaultAudioSeconds();
        }
        long bytesPerSecond = 0;
        for (int i = 3; i >= 0; i--) {
            bytesPerSecond = (bytesPerSecond << 8) | (head[28 + i] & 0xFF);
        }
        if (bytesPerSecond == 0) {
            throw ApiException.badRequest("Failed to load audio: Format not recognised.", null);
        }
        return (Base64Text.numBytes(text, from) - 44.0) / bytesPerSecond;
    }

    /** Returns where the data of a URL begin, or -1 if they are elsewhere. */
    private static int dataOf(String url) {
        int colon = url.indexOf(':');
        String scheme = colon < 0 ? "" : url.substring(0, Math.min(colon, 8)).toLowerCase(Locale.ROOT);
        switch (scheme) {
            case "http", "https" -> {
                return -1;
            }
            case "file" ->
                throw ApiException.badRequest("Cannot load local files without `--allowed-local-media-path`.", null);
            case "data" -> {
                int comma = url.indexOf(',');
                boolean isBase64 = comma >= 0 && url.startsWith(BASE64, comma - BASE64.length());
                if (!isBase64) {
                    throw ApiException.badRequest("Only base64 data URLs are supported for now.", null);
                }
                return comma + 1;
            }
            default -> throw ApiException.badRequest("The URL must be either a HTTP, data or file URL.", null);
        }
    }

    private void count(MediaKind kind) {
        if (settings.processor() == MediaProcessor.NONE) {
            throw ApiException.badRequest(settings.model() + " is not a multimodal model", null);
        }
        int limit = settings.limit(kind);
        if (counts.merge(kind, 1, Integer::sum) > limit) {
            throw ApiException.badRequest(
                    "At most " + limit + " " + kind.word() + "(s) may be provided in one prompt.", null);
        }
    }

    /** A client may give media a name of its own, which stands for their content. */
    private static String placeholder(JsonNode part, String content, double numTokens) {
        String name = part.path("uuid").asText("");
        int count = (int) Math.max(1, Math.min(MAX_TOKENS, numTokens));
        return new Placeholder(count, hash(name.isEmpty() ? content : name)).mark();
    }

    private static long hash(String content) {
        long hash = 0xCBF29CE484222325L;
        for (int i = 0; i < content.length(); i++) {
            hash = (hash ^ content.charAt(i)) * 0x100000001B3L;
        }
        return HashCommon.murmurHash3(hash);
    }
}
