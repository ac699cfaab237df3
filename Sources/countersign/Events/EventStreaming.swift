import HTTPClient
import Identity

/// Copies the audit log to its destinations, each at its own pace.
actor EventStreaming {
  private let identity: Identity
  private let folder: String
  private let outbound: OutboundConfiguration
  private let log: Log
  private var couriers: [ID<EventStream>: EventCourier] = [:]
  private var running: [ID<EventStream>: Task<Void, Never>] = [:]
  private var isStopping = false

  /// How often streams are checked for new events.
  private static let interval = Duration.seconds(1)
  /// The longest that the last delivery may take once the server is stopping.
  private static let grace = Duration.seconds(5)

  init(_ identity: Identity, _ configuration: ServeConfiguration, log: Log) {
    self.identity = identity
    folder = configuration.eventFolder
    outbound = configuration.outbound
    self.log = log
  }

  func run() async {
    do { try await identity.eventStreams.begin() } catch { complain(error) }
    repeat { await look() } while await slept(Self.interval)
  }

  /// Delivers what's left, within a few seconds; the rest is delivered after the next start.
  func finish() async {
    let limit = Task {
      do { try await Task.sleep(for: Self.grace) } catch { return }
      self.cancel()
    }
    // A delivery that was about to end may not have seen the last entries.
    for _ in 0..<2 {
      await look()
      for task in running.values { await task.value }
    }
    isStopping = true
    for task in running.values { await task.value }
    limit.cancel()
  }

  private func cancel() {
    isStopping = true
    for courier in couriers.values { courier.cancel() }
    for task in running.values { task.cancel() }
  }

  /// Starts the delivery of every stream that has new events, and isn't being delivered.
  private func look() async {
    // Receivers check the age of signatures.
    guard identity.clockGuard.doubt == nil else { return }
    guard identity.taskLease.isHeld else {
      // Another server delivers.
      for courier in couriers.values { courier.cancel() }
      couriers = [:]
      return
    }
    do {
      let work = try await identity.eventStreams.due()
      for id in couriers.keys where !work.streams.contains(id) {
        couriers.removeValue(forKey: id)?.cancel()
      }
      for stream in work.due where couriers[stream.id]?.serves(stream) == false {
        couriers.removeValue(forKey: stream.id)?.cancel()
      }
      for stream in work.due where running[stream.id] == nil && !isStopping {
        let courier = couriers[stream.id] ?? makeCourier(stream)
        couriers[stream.id] = courier
        running[stream.id] = Task {
          await courier.deliver()
          self.end(stream.id)
        }
      }
    } catch { complain(error) }
  }

  private func end(_ id: ID<EventStream>) { running[id] = nil }

  private func makeCourier(_ stream: EventStream) -> EventCourier {
    let carrier: any EventCarrier =
      switch stream.kind {
      case .file: FileCarrier(folder: folder, name: stream.target)
      case .syslog, .syslogTLS:
        SyslogCarrier(
          ServerConnection.Server(
            stream.target, isSecure: stream.kind == .syslogTLS, addresses: outbound.addresses,
            authority: outbound.authority))
      case .webhook:
        if let url = try? ClientURL(stream.target) {
          WebhookCarrier(url, outbound.client)
        } else {
          UnreachableCarrier()
        }
      }
    return EventCourier(identity.eventStreams, identity.taskLease, stream, carrier, log: log)
  }

  private func complain(_ error: any Error) {
    log.add(.taskFailed(.eventStreams, reason: "\(error)"))
  }
}

/// A destination whose stored address isn't one that this version connects to.
private struct UnreachableCarrier: EventCarrier {
  func deliver(_ batch: EventBatch) async -> EventAttempt {
    .postponed(HTTPClientError.unresolved.diagnosis)
  }

  func cancel() {}
}
