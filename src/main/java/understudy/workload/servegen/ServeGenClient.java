package understudy.workload.servegen;

import java.util.List;

/**
 * A client of a service: when its requests come, and how long they are.
 *
 * @param name of service and client, such as {@code deepseek-r1/chunk-3}
 * @param number unique in the workload, whatever is left out of it
 * @param rateScale factor on its rates, above 0
 */
record ServeGenClient(String name, long number, double rateScale, List<ClientWindow> windows, ClientLengths lengths) {

    /** Returns the client with those windows alone that have a part in some time. */
    ServeGenClient within(long startSeconds, long endSeconds) {
        var inside = windows.stream()
                .filter(window -> window.startSeconds() < endSeconds
                        && window.startSeconds() + window.durationSeconds() > startSeconds)
                .toList();
        return new ServeGenClient(name, number, rateScale, inside, lengths);
    }

    /** Returns the requests that its rates stand for. */
    double numRequests() {
        return rateScale
                * windows.stream().mapToDouble(ClientWindow::numRequests).sum();
    }
}
