package understudy.sweep.remote;

/** Message between machines, sent as CBOR. */
interface RemoteMessage {}
