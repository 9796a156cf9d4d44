package understudy.api.http;

import java.util.concurrent.CompletionStage;
import org.apache.pekko.http.javadsl.model.AttributeKey;

/** The end of a streamed response: completes when it has been written, or its client has disconnected. */
public record Ending(CompletionStage<Void> written) {
    /** Key under which a streamed response carries its end. */
    public static final AttributeKey<Ending> KEY = AttributeKey.create("understudy-ending", Ending.class);
}
