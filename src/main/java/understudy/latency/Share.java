package understudy.latency;

/** A part of a step's time: its name, and the nanoseconds. */
public record Share(String part, double nanos) {}
