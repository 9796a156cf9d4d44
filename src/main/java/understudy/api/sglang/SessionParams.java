package understudy.api.sglang;

import org.jspecify.annotations.Nullable;
import understudy.api.http.ApiException;
import understudy.api.http.JsonBody;

/**
 * Place of a request in a session (SGLang {@code managers/io_struct.py}, {@code SessionParams}).
 *
 * @param id of the session
 * @param rid the earlier request that it goes on from, or null for none
 * @param offset tokens of the earlier one to keep, counted from its end if negative, or 0 for all
 * @param replaces whether what came after the earlier request is given up, or all of the session without one
 * @param dropsOutput whether it goes on from the earlier prompt alone
 */
record SessionParams(String id, @Nullable String rid, int offset, boolean replaces, boolean dropsOutput) {

    /** Returns those of a call, or null if it has none; of a list with one for each prompt there must be one. */
    static @Nullable SessionParams read(JsonBody body) {
        var given = body.get("session_params");
        if (given == null) {
            return null;
        }
        var list = given.isArray() ? body.objects("session_params") : null;
        if (list != null && list.size() != 1) {
            throw ApiException.badRequest("session_params are supported here for one prompt only.", null);
        }
        var params = list == null ? body.object("session_params") : list.get(0);
        String id = params.text("id");
        if (id == null) {
            return null;
        }
        return new SessionParams(
                id,
                params.text("rid"),
                params.integer("offset", 0),
                params.bool("replace", false),
                params.bool("drop_previous_output", false));
    }
}
