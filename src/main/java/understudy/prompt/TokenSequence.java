package understudy.prompt;

/** A finite, immutable run of token ids. */
public interface TokenSequence extends TokenSource {

    /** Returns the number of tokens; positions run from 0 to one less. */
    int length();
}
