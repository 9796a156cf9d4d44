package understudy.api.model;

import it.unimi.dsi.fastutil.HashCommon;
import it.unimi.dsi.fastutil.ints.IntArrayList;
import understudy.prompt.TokenSource;

/**
 * Endless synthetic text whose tokens are a pure function of a seed, and whose text, encoded again, gives back the very
 * same tokens. So a chat that sends an answer back finds its blocks in the cache.
 *
 * <p>That holds because every token is a piece of its own to the encoding: a word with its leading space, or a mark
 * behind a word. Every sentence has twelve tokens.
 */
final class Prose {
    private static final int SENTENCE = 12;
    private static final int COMMA = 5;
    private static final String WORDS =
            "a able about above across after again all also always among and answer any are area"
                    + " around as ask at away back base be because been before begin behind below best better between big block both"
                    + " bring build but by call can case change check city clear close code come complete cost could country course"
                    + " cover cut data day did different do does done down draw each early earth end enough even ever every example"
                    + " face fact fall family far fast few field figure final find fire first follow food for form four free from"
                    + " full game gave general get give go good great green ground group grow had half hand hard has have he head"
                    + " hear heat help her here high him his hold home hot hour house how idea if in is it its just keep kind king"
                    + " know land large last late lead learn left less let letter life light like line list little live long look"
                    + " love low made main make man many map mark may me mean measure men might mind miss more most move much music"
                    + " must my name near need never new next night no north not note nothing now number of off often old on once"
                    + " one only open or order other our out over own page paper part pass people person pick place plan plant play"
                    + " point power press problem product pull put question quick rain ran reach read real red rest right river road"
                    + " rock room round rule run said same saw say school science sea second see seem self sentence serve set she"
                    + " ship short should show side simple since six size sleep slow small snow so some song soon sound south space"
                    + " special stand star start state stay step still stop story street strong study such sun sure system table take"
                    + " talk teach tell ten test than that the their them then there these they thing think this those thought three"
                    + " through time to together too took top town travel tree true try turn two under unit until up us use usual"
                    + " very voice wait walk want war warm was watch water way we week weight well went were west what wheel when"
                    + " where which while white who whole why will wind with wonder wood word work world would write year yes you"
                    + " young your";

    private final int[] words;
    private final int[] opening;
    private final int[] capitals;
    private final int period;
    private final int comma;

    Prose(Tokenizer tokenizer) {
        var lower = new IntArrayList();
        var first = new IntArrayList();
        var upper = new IntArrayList();
        for (String word : WORDS.split(" ", -1)) {
            String capital = Character.toUpperCase(word.charAt(0)) + word.substring(1);
            var spaced = tokenizer.encode(" " + word);
            var bare = tokenizer.encode(capital);
            var spacedCapital = tokenizer.encode(" " + capital);
            if (spaced.length == 1 && bare.length == 1 && spacedCapital.length == 1) {
                lower.add(spaced[0]);
                first.add(bare[0]);
                upper.add(spacedCapital[0]);
            }
        }
        words = lower.toIntArray();
        opening = first.toIntArray();
        capitals = upper.toIntArray();
        period = tokenizer.encode(".")[0];
        comma = tokenizer.encode(",")[0];
    }

    /**
     * Returns a text.
     *
     * @param continuesText whether it stands behind other text, and so begins with a space
     */
    TokenSource tokens(long seed, boolean continuesText) {
        return index -> tokenAt(seed, index, continuesText);
    }

    private int tokenAt(long seed, int index, boolean continuesText) {
        long hash = HashCommon.murmurHash3(seed + index);
        int place = index % SENTENCE;
        if (place == SENTENCE - 1) {
            return period;
        }
        if (place == COMMA && hash < 0) {
            return comma;
        }
        int word = (int) ((hash >>> 1) % words.length);
        if (place > 0) {
            return words[word];
        }
        return index > 0 || continuesText ? capitals[word] : opening[word];
    }
}
