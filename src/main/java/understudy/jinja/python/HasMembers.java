package understudy.jinja.python;

import org.jspecify.annotations.Nullable;

/** An object with members of its own, such as the variable {@code loop}. */
public interface HasMembers {
    /** Returns a member, or null if there is none of that name. */
    @Nullable Object member(String name);
}
