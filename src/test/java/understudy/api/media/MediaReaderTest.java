package understudy.api.media;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.api.http.ApiException;
import understudy.api.http.Json;

final class MediaReaderTest {
    private static ObjectNode image(String url) {
        var part = Json.object().put("type", "image_url");
        part.putObject("image_url").put("url", url);
        return part;
    }

    private static int tokens(MediaProcessor processor, ObjectNode part) {
        var mark = Placeholder.MARK.matcher(
                String.valueOf(SmallMedia.reader(processor).mark(part, "body.messages.0.content")));
        assertThat(mark.matches()).isTrue();
        return Placeholder.of(mark.group(1), mark.group(2)).numTokens();
    }

    /**
     * By hand. Qwen2-VL, 1024 x 1024: 36.57 squares of 28 pixels a side, so 37 x 37, and two marks. 28 x 28 is below 56 x 56
     * pixels, so 2 x 2. 6000 x 4000 is above 12,845,056 pixels by a factor whose root is 1.3669: 156.8 x 104.5, rounded down.
     * Qwen3-VL: 1024 / 32 = 32 a side; 64 x 64 is below 65,536 pixels, so 8 x 8. LLaVA-NeXT, 672 x 672: 576 + 48 x 48 + 48;
     * 1000 x 500: 672 x 336 would do, but 1008 x 336 and 672 x 672 keep no more, so 576 + 24 x 48 + 24. Pixtral, 1024 x 512: 32
     * rows of 64 and one. Mistral, 1540 x 770: 28 rows of 55 and one. InternVL, 896 x 448: two tiles, the whole, two marks.
     */
    @ParameterizedTest
    @CsvSource({
        "QWEN2_VL, 1024, 1024, 1371",
        "QWEN2_VL, 28, 28, 6",
        "QWEN2_VL, 6000, 4000, 16226",
        "QWEN3_VL, 1024, 1024, 1026",
        "QWEN3_VL, 64, 64, 66",
        "QWEN3_OMNI, 64, 64, 66",
        "LLAVA, 10, 1000, 576",
        "LLAVA_NEXT, 672, 672, 2928",
        "LLAVA_NEXT, 1000, 500, 1752",
        "GEMMA3, 3000, 20, 260",
        "PIXTRAL, 1024, 512, 2080",
        "MISTRAL3, 1540, 770, 1568",
        "INTERNVL, 896, 448, 770",
        "INTERNVL, 448, 448, 258",
        "TOKENS, 5, 5, 100"
    })
    void picture_hasTheTokensOfItsProcessor(MediaProcessor processor, int width, int height, int numTokens) {
        assertThat(tokens(processor, image(SmallMedia.url(SmallMedia.png(width, height)))))
                .isEqualTo(numTokens);
    }

    /** Headers by hand, each of 300 x 200; Qwen2-VL: 11 x 7 squares and two marks. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "474946383961 2c01c800 f70000",
                // Two application segments before the frame.
                "ffd8 ffe00004aabb ffffe10003cc ffc0000b08 00c8012c 01011100",
                "52494646 24000000 57454250 56503820 18000000 300100 9d012a 2c01c800",
                // 299 + (199 << 14) = 0x0031c12b.
                "52494646 24000000 57454250 5650384c 18000000 2f 2bc13100",
                "52494646 24000000 57454250 56503858 0a000000 10000000 2b0100 c70000"
            })
    void pictureOfAnyFormat_isMeasured(String hex) {
        byte[] bytes = HexFormat.of().parseHex(hex.replace(" ", ""));

        assertThat(tokens(MediaProcessor.QWEN2_VL, image(SmallMedia.url(bytes))))
                .isEqualTo(79);
    }

    @Test
    void pictureElsewhere_hasTheDefaultSize() {
        // 1024 x 1024 as above; the host does not exist, and is not asked.
        assertThat(tokens(MediaProcessor.QWEN2_VL, image("https://nowhere.invalid/a.png")))
                .isEqualTo(1371);
    }

    @Test
    void pictureOfManyBytes_isReadNoFurtherThanItsHeader() {
        byte[] bytes = Arrays.copyOf(SmallMedia.png(1024, 1024), 10_000_000);

        assertThat(tokens(MediaProcessor.QWEN2_VL, image(SmallMedia.url(bytes))))
                .isEqualTo(1371);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 8, 16, 20, 23})
    void truncatedPicture_isRefused(int length) {
        refused(
                image(SmallMedia.url(Arrays.copyOf(SmallMedia.png(100, 100), length))),
                "Failed to load image: cannot identify image file");
    }

    @ParameterizedTest
    @CsvSource({"0, 5", "5, 0", "-1, 5", "-2147483648, -2147483648"})
    void pictureWithoutPixels_isRefused(int width, int height) {
        refused(
                image(SmallMedia.url(SmallMedia.png(width, height))),
                "Failed to load image: cannot identify image file");
    }

    @Test
    void pictureOfGigapixels_isRefused() {
        // 2147483647 squared.
        refused(
                image(SmallMedia.url(SmallMedia.png(Integer.MAX_VALUE, Integer.MAX_VALUE))),
                "Failed to load image: Image size (4611686014132420609 pixels) exceeds limit of 178956970 pixels,"
                        + " could be decompression bomb DOS attack.");
    }

    @Test
    void stripe_isRefusedByQwen() {
        refused(
                image(SmallMedia.url(SmallMedia.png(2010, 10))),
                "absolute aspect ratio must be smaller than 200, got 201.0");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        ftp://host/a.png | The URL must be either a HTTP, data or file URL.
        nothing | The URL must be either a HTTP, data or file URL.
        file:///etc/passwd | Cannot load local files without `--allowed-local-media-path`.
        data:image/png,abc | Only base64 data URLs are supported for now.
        data:image/png;base64 | Only base64 data URLs are supported for now.
        data:image/png;base64,%%%% | Failed to load image: cannot identify image file
        data:image/png;base64,iVBOR\u00FFw0KGgo | Failed to load image: cannot identify image file
        """)
    void hostileUrl_isRefused(String url, String message) {
        refused(image(url), message);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"type\": \"image_url\"}",
                "{\"type\": \"image_url\", \"image_url\": {}}",
                "{\"type\": \"image_url\", \"image_url\": [[[[]]]]}",
                "{\"type\": \"image_url\", \"image_url\": {\"url\": 5}}",
                "{\"type\": \"input_audio\", \"input_audio\": []}",
                "{\"type\": \"video_url\", \"video_url\": null}"
            })
    void partWithoutItsMedia_isRefused(String part) {
        assertThatThrownBy(
                        () -> SmallMedia.reader(MediaProcessor.TOKENS).mark(Json.read(part), "body.messages.0.content"))
                .isInstanceOfSatisfying(
                        ApiException.class,
                        failure -> assertThat(failure.status()).isEqualTo(400));
    }

    private static void refused(ObjectNode part, String message) {
        assertThatThrownBy(() -> SmallMedia.reader(MediaProcessor.QWEN2_VL).mark(part, "body.messages.0.content"))
                .isInstanceOfSatisfying(
                        ApiException.class,
                        failure -> assertThat(failure.status()).isEqualTo(400))
                .hasMessage(message);
    }

    @Test
    void wav_hasTheTokensOfItsLength() {
        // 16,000 bytes a second for 32,000 bytes: two seconds of ten tokens.
        byte[] wav = ByteBuffer.allocate(44 + 32_000)
                .order(ByteOrder.LITTLE_ENDIAN)
                .put("RIFF0000WAVEfmt ".getBytes(java.nio.charset.StandardCharsets.US_ASCII))
                .putInt(28, 16_000)
                .array();
        var part = Json.object().put("type", "input_audio");
        part.putObject("input_audio").put("data", Base64.getEncoder().encodeToString(wav));

        assertThat(tokens(MediaProcessor.TOKENS, part)).isEqualTo(20);
    }

    @Test
    void audioAndVideoOfUnknownLength_haveTheTokensOfTheSettings() {
        // 5 s of ten tokens; 32 frames of four.
        assertThat(tokens(
                        MediaProcessor.TOKENS,
                        Json.object().put("type", "audio_url").put("audio_url", "http://a/b.mp3")))
                .isEqualTo(50);
        assertThat(tokens(
                        MediaProcessor.TOKENS,
                        Json.object().put("type", "video_url").put("video_url", "http://a/b.mp4")))
                .isEqualTo(128);
    }

    @Test
    void moreThanTheLimit_isRefused() {
        var reader = SmallMedia.reader(MediaProcessor.LLAVA);
        var part = image("http://a/b.png");
        for (int i = 0; i < 3; i++) {
            assertThat(reader.mark(part, "")).isNotNull();
        }

        assertThatThrownBy(() -> reader.mark(part, "")).hasMessage("At most 3 image(s) may be provided in one prompt.");
        assertThatThrownBy(
                        () -> reader.mark(Json.object().put("type", "audio_url").put("audio_url", "http://a"), ""))
                .hasMessage("At most 0 audio(s) may be provided in one prompt.");
    }

    @Test
    void modelOfTextAlone_refusesAll() {
        assertThatThrownBy(() -> SmallMedia.reader(MediaProcessor.NONE).mark(image("http://a/b.png"), ""))
                .hasMessage("small-model is not a multimodal model");
    }

    @ParameterizedTest
    @CsvSource({
        "Qwen/Qwen2.5-VL-7B-Instruct, QWEN2_VL",
        "/models/Qwen2-VL-2B, QWEN2_VL",
        "Qwen/Qwen3-VL-235B-A22B-Instruct-FP8, QWEN3_VL",
        "Qwen/Qwen3.5-397B-A17B-FP8, QWEN3_VL",
        "Qwen/Qwen2.5-Omni-7B, QWEN2_5_OMNI",
        "Qwen/Qwen2-Audio-7B-Instruct, TOKENS",
        "llava-hf/llava-1.5-7b-hf, LLAVA",
        "llava-hf/llava-v1.6-mistral-7b-hf, LLAVA_NEXT",
        "google/gemma-3-27b-it, GEMMA3",
        "google/gemma-3-1b-it, NONE",
        "google/gemma-4-E4B-it, TOKENS",
        "mistralai/Pixtral-12B-2409, PIXTRAL",
        "mistralai/Mistral-Small-3.1-24B-Instruct-2503, MISTRAL3",
        "OpenGVLab/InternVL3-8B, INTERNVL",
        "meta-llama/Llama-3.2-11B-Vision-Instruct, TOKENS",
        "meta-llama/Llama-4-Scout-17B-16E-Instruct, TOKENS",
        "zai-org/GLM-4.5V, TOKENS",
        "deepseek-ai/DeepSeek-OCR, TOKENS",
        "moonshotai/Kimi-K2.5, TOKENS",
        "llama-3.1-8b, NONE",
        "meta-llama/Llama-3.3-70B-Instruct, NONE",
        "Qwen/Qwen3-32B, NONE",
        "deepseek-ai/DeepSeek-R1, NONE",
        "openai/gpt-oss-120b, NONE",
        "mistralai/Mixtral-8x7B-Instruct-v0.1, NONE",
        "facebook/opt-125m, NONE",
        "my-own, TOKENS"
    })
    void model_isKnownByItsName(String model, MediaProcessor processor) {
        assertThat(KnownProcessors.of(model)).isEqualTo(processor);
    }
}
