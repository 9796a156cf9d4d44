package understudy.api.model;

import java.util.List;
import understudy.prompt.TokenSource;

/** Short English words, each of which is one token, with a space before it, to the tokenizers of most models. */
public final class CommonWords {
    static final List<String> ALL =
            List.of(("a able about above across after again all also always among and answer any are area"
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
                            + " young your")
                    .split(" "));

    private CommonWords() {}

    /** Returns a text that stands for some tokens, with a word for each: equal tokens give equal words. */
    public static String text(TokenSource tokens, int from, int count) {
        var ids = new int[count];
        tokens.copy(from, count, ids, 0);
        var text = new StringBuilder();
        for (int id : ids) {
            text.append(' ').append(ALL.get(id % ALL.size()));
        }
        return text.toString();
    }
}
