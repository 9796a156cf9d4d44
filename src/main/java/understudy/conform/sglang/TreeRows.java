package understudy.conform.sglang;

import it.unimi.dsi.fastutil.ints.IntList;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import understudy.kvcache.radix.RadixMemory;
import understudy.kvcache.radix.RadixNodeState;

/** Tree at the end of a recording as rows: depth, tokens, locks, hits, priority, pages, and what the features add. */
final class TreeRows {
    private final Map<Integer, List<RadixNodeState>> children = new HashMap<>();
    private final List<List<Object>> rows = new ArrayList<>();
    private final RadixMemory memory;
    private final boolean keysArePairs;

    private TreeRows(RadixMemory memory, boolean keysArePairs) {
        this.memory = memory;
        this.keysArePairs = keysArePairs;
    }

    /** Returns the rows, depth first, children in the order of their keys as text. */
    static List<List<Object>> of(RadixMemory memory, SglangRecording recording) {
        var rows = new TreeRows(memory, recording.speculates());
        for (var node : memory.nodes()) {
            rows.children
                    .computeIfAbsent(node.parentId(), id -> new ArrayList<>())
                    .add(node);
        }
        rows.add(-1, 0);
        return rows.rows;
    }

    private void add(int parent, int depth) {
        var nodes = children.getOrDefault(parent, List.of());
        for (var node : nodes.stream().sorted(Comparator.comparing(this::key)).toList()) {
            rows.add(row(node, depth));
            add(node.id(), depth + 1);
        }
    }

    private List<Object> row(RadixNodeState node, int depth) {
        var config = memory.config();
        var row = new ArrayList<Object>(List.of(depth, node.numTokens(), node.locks()));
        if (config.window() != null) {
            row.add(node.windowLocks());
        }
        row.addAll(List.of(node.hits(), node.priority()));
        row.add(runs(node.pages()));
        if (config.window() != null) {
            row.add(
                    node.hasWindow() && node.pages() != null
                            ? TurnFields.windowRuns(memory.windowPages(node.pages()))
                            : null);
        }
        if (config.hierarchy() != null) {
            row.add(runs(node.hostPages()));
        }
        return row;
    }

    private static @Nullable Object runs(@Nullable IntList pages) {
        return pages == null ? null : TurnFields.runs(pages.toIntArray());
    }

    /** Returns a child's key as Python writes it. */
    private String key(RadixNodeState node) {
        var tokens = node.key().toIntArray();
        var parts = new ArrayList<String>();
        for (int i = 0; i < tokens.length - (keysArePairs ? 1 : 0); i++) {
            parts.add(keysArePairs ? "(" + tokens[i] + ", " + tokens[i + 1] + ")" : "" + tokens[i]);
        }
        String page = parts.size() == 1 ? parts.get(0) : "(" + String.join(", ", parts) + ")";
        return node.extraKey().isEmpty() ? page : "('" + node.extraKey() + "', " + page + ")";
    }
}
