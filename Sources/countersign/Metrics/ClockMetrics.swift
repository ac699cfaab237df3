import Host
import Metrics

struct ClockMetrics: Sendable {
  private let clock: KernelClock

  /// Creates the metrics; nil where the kernel doesn't tell, so that they're left out.
  init?(_ clock: KernelClock?) {
    guard let clock else { return nil }
    self.clock = clock
  }

  func write(to exposition: inout Exposition) {
    exposition.gauge(
      "countersign_clock_synchronized",
      help: "1 if a time service keeps the clock synchronized, else 0.",
      Sample(clock.isSynchronized ? 1 : 0))
    exposition.gauge(
      "countersign_clock_error_seconds",
      help: "How far the clock may be from the true time, according to the kernel.",
      Sample(Double(clock.error) / 1e6))
  }
}
