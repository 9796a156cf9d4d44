package understudy.latency;

/** A part of a step's time: what it is spent on, and the nanoseconds. */
public record Share(String part, double nanos) {}
