package understudy.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtensionContext;

final class EmulatedClusterExtensionTest {
    private static final ExtensionContext CONTEXT = null;

    @Test
    void clusterThatCannotStart_isAllThatATestFailsWith() {
        var extension = EmulatedClusterExtension.paused("cluster.replicas = none");

        assertThatThrownBy(() -> extension.beforeEach(CONTEXT)).hasMessageContaining("cluster.replicas");
        // JUnit calls this all the same, and adds to the failure whatever it throws.
        assertThatCode(() -> extension.afterEach(CONTEXT)).doesNotThrowAnyException();
    }

    @Test
    void cluster_isThereBetweenBothCalls() {
        var extension = EmulatedClusterExtension.paused("cluster.replicas = 2");

        extension.beforeEach(CONTEXT);
        assertThat(extension.cluster()).isNotNull();
        extension.afterEach(CONTEXT);

        assertThatIllegalStateException().isThrownBy(extension::cluster);
    }
}
