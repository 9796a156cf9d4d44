/**
 * Pictures, audio and video of a chat: how many tokens each takes, by the rules of the models' processors. Nothing is
 * fetched, and no more of a picture is decoded than its header.
 */
@NullMarked
package understudy.api.media;

import org.jspecify.annotations.NullMarked;
