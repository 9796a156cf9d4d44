package understudy.parquet;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A structure of Thrift's compact protocol, in which Parquet keeps all that describes data: its fields by number. */
final class ThriftStruct {
    private static final int MAX_DEPTH = 12;

    private static final int STOP = 0;
    private static final int TRUE = 1;
    private static final int FALSE = 2;
    private static final int BYTE = 3;
    private static final int I64 = 6;
    private static final int DOUBLE = 7;
    private static final int BINARY = 8;
    private static final int LIST = 9;
    private static final int SET = 10;
    private static final int STRUCT = 12;
    private static final int LONG_LIST = 15;

    private final Map<Integer, Object> fields;

    private ThriftStruct(Map<Integer, Object> fields) {
        this.fields = fields;
    }

    static ThriftStruct read(Bytes bytes) {
        return read(bytes, 0);
    }

    boolean has(int field) {
        return fields.containsKey(field);
    }

    /** Returns a number that must be there. */
    long number(int field) {
        return get(field, Long.class);
    }

    String text(int field) {
        return get(field, String.class);
    }

    ThriftStruct struct(int field) {
        return get(field, ThriftStruct.class);
    }

    /** Returns a list of structures that must be there. */
    List<ThriftStruct> structs(int field) {
        var structs = new ArrayList<ThriftStruct>();
        for (Object element : get(field, List.class)) {
            if (!(element instanceof ThriftStruct struct)) {
                throw new Bytes.DamageException("field " + field + " is not a list of structures");
            }
            structs.add(struct);
        }
        return structs;
    }

    private <T> T get(int field, Class<T> type) {
        Object value = fields.get(field);
        if (!type.isInstance(value)) {
            throw new Bytes.DamageException("field " + field + " of its description is missing or of another kind");
        }
        return type.cast(value);
    }

    private static ThriftStruct read(Bytes bytes, int depth) {
        if (depth > MAX_DEPTH) {
            throw new Bytes.DamageException("its description is nested more than " + MAX_DEPTH + " deep");
        }
        var fields = new HashMap<Integer, Object>();
        int field = 0;
        for (int header = bytes.readByte(); header != STOP; header = bytes.readByte()) {
            int step = header >> 4;
            field = step == 0 ? (int) zigzag(bytes.varint()) : field + step;
            int type = header & 0xf;
            fields.put(field, type == TRUE || type == FALSE ? (Object) (type == TRUE) : value(bytes, type, depth));
        }
        return new ThriftStruct(fields);
    }

    private static Object value(Bytes bytes, int type, int depth) {
        if (type > BYTE && type <= I64) {
            return zigzag(bytes.varint());
        }
        return switch (type) {
            // An element of a list of truths takes a byte, unlike a field.
            case TRUE, FALSE, BYTE -> (long) bytes.readByte();
            case DOUBLE -> Double.longBitsToDouble(bytes.littleEndian(Double.BYTES));
            case BINARY -> bytes.text(bytes.count());
            case LIST, SET -> list(bytes, depth);
            case STRUCT -> read(bytes, depth + 1);
            default -> throw new Bytes.DamageException("its description has a field of the unknown kind " + type);
        };
    }

    private static List<Object> list(Bytes bytes, int depth) {
        int header = bytes.readByte();
        int size = header >> 4 == LONG_LIST ? bytes.count() : header >> 4;
        var list = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            list.add(value(bytes, header & 0xf, depth + 1));
        }
        return list;
    }

    private static long zigzag(long number) {
        return (number >>> 1) ^ -(number & 1);
    }
}
