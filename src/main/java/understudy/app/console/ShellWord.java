package understudy.app.console;

/** One word of a command, as a shell reads it. */
public final class ShellWord {
    private ShellWord() {}

    /** Quotes a word, unless the shell takes it as it is. */
    public static String quoted(String word) {
        return word.matches("[\\w./:,=@%+-]+") ? word : "'" + word.replace("'", "'\\''") + "'";
    }
}
