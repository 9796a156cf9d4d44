package understudy.routing.policy;

import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Memory of an object and all that it refers to: the places in its arrays and collections. */
final class Footprint {
    private final Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Deque<Object> open = new ArrayDeque<>();
    private long numPlaces;

    private Footprint() {}

    static long of(Object root) {
        var footprint = new Footprint();
        footprint.add(root);
        while (!footprint.open.isEmpty()) {
            footprint.visit(footprint.open.pop());
        }
        return footprint.numPlaces;
    }

    private void add(@Nullable Object object) {
        if (object != null && seen.add(object)) {
            open.push(object);
        }
    }

    private void visit(Object object) {
        if (object.getClass().isArray()) {
            numPlaces += Array.getLength(object);
            if (object instanceof Object[] elements) {
                Arrays.stream(elements).forEach(this::add);
            }
        } else if (!object.getClass().getName().startsWith("java.")) {
            visitFields(object);
        } else if (object instanceof Collection<?> elements) {
            numPlaces += elements.size();
            elements.forEach(this::add);
        } else if (object instanceof Map<?, ?> map) {
            add(map.keySet());
            add(map.values());
        }
    }

    private void visitFields(Object object) {
        for (Class<?> type = object.getClass(); type != null && type != Object.class; type = type.getSuperclass()) {
            var fields = Arrays.stream(type.getDeclaredFields())
                    .filter(field -> !Modifier.isStatic(field.getModifiers()))
                    .filter(field -> !field.getType().isPrimitive())
                    .toArray(Field[]::new);
            AccessibleObject.setAccessible(fields, true);
            Arrays.stream(fields).forEach(field -> add(value(field, object)));
        }
    }

    private static @Nullable Object value(Field field, Object object) {
        try {
            return field.get(object);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }
}
