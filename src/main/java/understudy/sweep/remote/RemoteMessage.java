package understudy.sweep.remote;

/** What crosses from one machine to another, as CBOR. */
interface RemoteMessage {}
