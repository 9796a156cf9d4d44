/** Certificates of the replicas, made for one run of the conformance kit. */
@NullMarked
package understudy.chaos.tls;

import org.jspecify.annotations.NullMarked;
