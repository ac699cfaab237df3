import Identity
import Metrics

/// The metrics of event streams by kind.
struct StreamMetrics: Sendable {
  private let states: [EventStream.Kind: [EventStreams.State]]
  private let now: Instant

  init(_ states: [EventStreams.State], at now: Instant) {
    self.states = Dictionary(grouping: states) { $0.stream.kind }
    self.now = now
  }

  func write(to exposition: inout Exposition) {
    gauge(
      "countersign_event_streams", help: "Event streams that aren't paused.", to: &exposition
    ) { Double(Self.active($0).count) }
    gauge(
      "countersign_event_streams_paused", help: "Paused event streams.", to: &exposition
    ) { Double($0.count - Self.active($0).count) }
    gauge(
      "countersign_event_streams_failing",
      help: "Event streams whose last attempt to deliver failed.", to: &exposition
    ) { Double(Self.active($0).filter { $0.stream.failures > 0 }.count) }
    gauge(
      "countersign_event_stream_lag_entries",
      help: "Sealed audit entries that the slowest event stream hasn't delivered.", to: &exposition
    ) { Double(Self.active($0).map(\.lag).max() ?? 0) }
    gauge(
      "countersign_event_stream_lag_seconds",
      help: "Age of the oldest entry that an event stream hasn't delivered; 0 if there's none.",
      to: &exposition
    ) { states in
      let oldest = Self.active(states).compactMap(\.oldest).min()
      return oldest.map { max(0, Double(now.microseconds - $0.microseconds) / 1e6) } ?? 0
    }
    gauge(
      "countersign_event_stream_dead_letters",
      help: "Audit entries that destinations rejected, and no one discarded.", to: &exposition
    ) { Double($0.reduce(0) { $0 + $1.deadLetters }) }
  }

  private static func active(_ states: [EventStreams.State]) -> [EventStreams.State] {
    states.filter { $0.stream.pausedAt == nil }
  }

  private func gauge(
    _ name: String, help: String, to exposition: inout Exposition,
    _ value: ([EventStreams.State]) -> Double
  ) {
    exposition.gauges(
      name, help: help,
      EventStream.Kind.allCases.map { kind in
        Sample(value(states[kind] ?? []), ["kind": kind.rawValue])
      })
  }
}
