package understudy.api.media;

import understudy.api.http.ApiException;

/** Rule by which a family of models turns media into tokens (vLLM {@code multimodal/processing}, by model class). */
public enum MediaProcessor {
    /** A model of text alone, which refuses all media. */
    NONE(false, false),
    /** So many tokens for each picture, second and frame as the settings say. */
    TOKENS(true, true),
    /** Patches of 14 pixels, merged two by two; also Qwen2.5-VL. */
    QWEN2_VL(false, true),
    /** Patches of 16 pixels, merged two by two. */
    QWEN3_VL(false, true),
    /** Pictures as Qwen2-VL, and audio. */
    QWEN2_5_OMNI(true, true),
    /** Pictures as Qwen3-VL, and audio. */
    QWEN3_OMNI(true, true),
    /** 24 x 24 patches, whatever the size. */
    LLAVA(false, false),
    /** The whole picture as LLaVA has it, and once more in tiles of 336 pixels. */
    LLAVA_NEXT(false, false),
    /** 256 tokens between the marks of a picture. */
    GEMMA3(false, false),
    /** Rows of patches of 16 pixels, for at most 1,024 pixels a side. */
    PIXTRAL(false, false),
    /** Rows of patches of 14 pixels, merged two by two, for at most 1,540 pixels a side. */
    MISTRAL3(false, false),
    /** 256 tokens for each tile of 448 pixels, at most twelve, and for the whole picture. */
    INTERNVL(false, true);

    private static final int MAX_PATCHES = 1 << 30;
    private static final int MAX_ASPECT_RATIO = 200;
    private static final long QWEN2_MIN_PIXELS = 56L * 56;
    private static final long QWEN2_MAX_PIXELS = 3584L * 3584;
    private static final long QWEN3_MIN_PIXELS = 256L * 256;
    private static final long QWEN3_MAX_PIXELS = 4096L * 4096;
    private static final int LLAVA_SIDE = 336;
    private static final int LLAVA_PATCHES = 24;
    private static final int[][] LLAVA_GRIDS = {{1, 2}, {2, 1}, {2, 2}, {3, 1}, {1, 3}};
    private static final int INTERNVL_SIDE = 448;
    private static final int INTERNVL_MAX_TILES = 12;
    private static final int TOKENS_PER_TILE = 256;

    private final boolean takesAudio;
    private final boolean takesVideo;

    MediaProcessor(boolean takesAudio, boolean takesVideo) {
        this.takesAudio = takesAudio;
        this.takesVideo = takesVideo;
    }

    /** Returns whether the model takes media of a kind. */
    public boolean takes(MediaKind kind) {
        return switch (kind) {
            case IMAGE -> this != NONE;
            case AUDIO -> takesAudio;
            case VIDEO -> takesVideo;
        };
    }

    /**
     * Returns the tokens of a picture, with those that mark its beginning and end.
     *
     * @param limits of the pixels that a picture is scaled to, where they are not the processor's own
     * @param flat tokens of a picture for which there is no rule
     */
    int imageTokens(ImageSize size, PixelLimits limits, int flat) {
        return switch (this) {
            case NONE, TOKENS -> flat;
            case QWEN2_VL, QWEN2_5_OMNI -> 2 + patches(size, 28, limits.or(QWEN2_MIN_PIXELS, QWEN2_MAX_PIXELS));
            case QWEN3_VL, QWEN3_OMNI -> 2 + patches(size, 32, limits.or(QWEN3_MIN_PIXELS, QWEN3_MAX_PIXELS));
            case LLAVA -> LLAVA_PATCHES * LLAVA_PATCHES;
            case LLAVA_NEXT -> LLAVA_PATCHES * LLAVA_PATCHES + tiled(size);
            // Two line breaks before the mark of the beginning, and two behind that of the end, a token each.
            case GEMMA3 -> TOKENS_PER_TILE + 4;
            case PIXTRAL -> rows(size, 1024, 16);
            case MISTRAL3 -> rows(size, 1540, 28);
            case INTERNVL -> 2 + TOKENS_PER_TILE * tiles(size);
        };
    }

    /**
     * Pixels that a picture is scaled to.
     *
     * @param min at least so many, or 0 for the processor's own
     * @param max at most so many, or 0 for the processor's own
     */
    public record PixelLimits(long min, long max) {
        PixelLimits or(long ownMin, long ownMax) {
            long least = min > 0 ? min : ownMin;
            return new PixelLimits(least, Math.max(least, max > 0 ? max : ownMax));
        }
    }

    /** Returns how many squares of {@code factor} pixels a picture has, scaled (Qwen {@code smart_resize}). */
    private static int patches(ImageSize size, int factor, PixelLimits limits) {
        double width = size.width();
        double height = size.height();
        double ratio = Math.max(width, height) / Math.min(width, height);
        if (ratio > MAX_ASPECT_RATIO) {
            throw ApiException.badRequest(
                    "absolute aspect ratio must be smaller than " + MAX_ASPECT_RATIO + ", got " + ratio, null);
        }
        double columns = Math.max(1, Math.rint(width / factor));
        double rows = Math.max(1, Math.rint(height / factor));
        double area = (double) factor * factor;
        if (columns * rows * area > limits.max()) {
            double beta = Math.sqrt(width * height / limits.max());
            columns = Math.max(1, Math.floor(width / beta / factor));
            rows = Math.max(1, Math.floor(height / beta / factor));
        } else if (columns * rows * area < limits.min()) {
            double beta = Math.sqrt(limits.min() / (width * height));
            columns = Math.ceil(width * beta / factor);
            rows = Math.ceil(height * beta / factor);
        }
        return (int) Math.min(MAX_PATCHES, columns * rows);
    }

    /** Returns the tokens of rows of patches, each with one for its end (mistral_common {@code ImageEncoder}). */
    private static int rows(ImageSize size, int maxSide, int patch) {
        double ratio = Math.max(size.width(), size.height()) / (double) maxSide;
        double width = ratio > 1 ? Math.rint(size.width() / ratio) : size.width();
        double height = ratio > 1 ? Math.rint(size.height() / ratio) : size.height();
        int columns = Math.max(1, (int) Math.ceil(width / patch));
        int rows = Math.max(1, (int) Math.ceil(height / patch));
        return rows * (columns + 1);
    }

    /** Returns the tokens of the tiles, without what is only padding (LLaVA-NeXT {@code _get_num_unpadded_features}). */
    private static int tiled(ImageSize size) {
        var best = LLAVA_GRIDS[0];
        double bestPixels = -1;
        double leastWaste = Double.MAX_VALUE;
        for (var grid : LLAVA_GRIDS) {
            double wide = (double) grid[0] * LLAVA_SIDE;
            double high = (double) grid[1] * LLAVA_SIDE;
            double scale = Math.min(wide / size.width(), high / size.height());
            double used = Math.floor(size.width() * scale) * Math.floor(size.height() * scale);
            double pixels = Math.min(used, (double) size.width() * size.height());
            double waste = wide * high - pixels;
            if (pixels > bestPixels || (pixels == bestPixels && waste < leastWaste)) {
                best = grid;
                bestPixels = pixels;
                leastWaste = waste;
            }
        }
        long columns = (long) best[0] * LLAVA_PATCHES;
        long rows = (long) best[1] * LLAVA_PATCHES;
        if ((double) size.width() / size.height() > (double) columns / rows) {
            long filled = size.height() * columns / size.width();
            rows -= (rows - filled) / 2 * 2;
        } else {
            long filled = size.width() * rows / size.height();
            columns -= (columns - filled) / 2 * 2;
        }
        return (int) (rows * columns + rows);
    }

    /** Returns the tiles of the grid whose shape is nearest to the picture's, and the whole (InternVL {@code preprocess}). */
    private static int tiles(ImageSize size) {
        double shape = (double) size.width() / size.height();
        double pixels = (double) size.width() * size.height();
        int best = 1;
        double leastDifference = Double.MAX_VALUE;
        for (int count = 1; count <= INTERNVL_MAX_TILES; count++) {
            for (int columns = 1; columns <= count; columns++) {
                if (count % columns == 0) {
                    double difference = Math.abs(shape - (double) columns * columns / count);
                    boolean isLargeEnough = pixels > 0.5 * INTERNVL_SIDE * INTERNVL_SIDE * count;
                    if (difference < leastDifference || (difference == leastDifference && isLargeEnough)) {
                        best = count;
                        leastDifference = difference;
                    }
                }
            }
        }
        return best == 1 ? 1 : best + 1;
    }
}
