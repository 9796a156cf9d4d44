package understudy.api.http;

import java.math.BigInteger;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.interfaces.ECPublicKey;
import java.security.spec.ECPrivateKeySpec;
import java.security.spec.InvalidKeySpecException;

/** Private key of an elliptic curve in SEC 1's format (RFC 5915), which neither the JDK nor Pekko reads. */
final class Sec1Key {
    private static final int SEQUENCE = 0x30;
    private static final int INTEGER = 0x02;
    private static final int OCTET_STRING = 0x04;

    private Sec1Key() {}

    /**
     * Reads a key.
     *
     * @param der a sequence of the version 1 and the private number; what follows is not read
     * @param counterpart the public key, whose curve is the private key's
     * @throws InvalidKeySpecException if it is none
     */
    static PrivateKey read(byte[] der, PublicKey counterpart) throws GeneralSecurityException {
        if (!(counterpart instanceof ECPublicKey curve)) {
            throw new InvalidKeySpecException("its key is one of an elliptic curve, and the other is not");
        }
        try {
            var key = content(ByteBuffer.wrap(der), SEQUENCE);
            content(key, INTEGER);
            var number = content(key, OCTET_STRING);
            byte[] bytes = new byte[number.remaining()];
            number.get(bytes);
            return KeyFactory.getInstance("EC")
                    .generatePrivate(new ECPrivateKeySpec(new BigInteger(1, bytes), curve.getParams()));
        } catch (BufferUnderflowException e) {
            throw new InvalidKeySpecException("it ends too early", e);
        }
    }

    /** Takes the content of the next value. */
    private static ByteBuffer content(ByteBuffer from, int tag) throws InvalidKeySpecException {
        if (Byte.toUnsignedInt(from.get()) != tag) {
            throw new InvalidKeySpecException("it is no sequence of a version and a number");
        }
        int length = length(from);
        if (length > from.remaining()) {
            throw new BufferUnderflowException();
        }
        var content = from.slice(from.position(), length);
        from.position(from.position() + length);
        return content;
    }

    /** A length from 128 on has its number of bytes before it; no key needs more than two. */
    private static int length(ByteBuffer from) throws InvalidKeySpecException {
        int first = Byte.toUnsignedInt(from.get());
        return switch (first) {
            case 0x81 -> Byte.toUnsignedInt(from.get());
            case 0x82 -> Short.toUnsignedInt(from.getShort());
            default -> {
                if (first > 0x7f) {
                    throw new InvalidKeySpecException("it has a length that no key has");
                }
                yield first;
            }
        };
    }
}
