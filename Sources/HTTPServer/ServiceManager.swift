import Glibc

/// The service manager that started the process and waits for its state, such as systemd with
/// `Type=notify`.
///
/// Implements the datagrams of `sd_notify(3)`.
public struct ServiceManager: Sendable {
  /// A state of the process.
  public enum State: Sendable {
    /// It starts, and will be ready or report this again within a time.
    case starting(within: Duration)
    /// It serves requests.
    case ready
    /// It reads its configuration again, until it's ready.
    case reloading
    /// It's shutting down, within a time.
    case stopping(within: Duration)
    /// It hasn't hung.
    case alive
  }

  private let socketName: [UInt8]

  /// How long the service manager waits for a sign of life before it restarts the process; nil for
  /// forever.
  public let watchdog: Duration?

  /// Reads `NOTIFY_SOCKET`, `WATCHDOG_USEC`, and `WATCHDOG_PID`; nil when no service manager waits.
  public init?(environment: [String: String]) {
    guard let name = environment["NOTIFY_SOCKET"], let first = name.utf8.first,
      [UInt8(ascii: "/"), UInt8(ascii: "@")].contains(first), name.utf8.count < Self.longestName
    else { return nil }
    // An abstract name starts with NUL, which a variable can't contain.
    socketName = (first == UInt8(ascii: "@") ? [0] : [first]) + name.utf8.dropFirst()
    let isForOther = environment["WATCHDOG_PID"].map { $0 != "\(getpid())" } ?? false
    let limit = environment["WATCHDOG_USEC"].flatMap { Int64($0) } ?? 0
    watchdog = limit > 0 && !isForOther ? .microseconds(limit) : nil
  }

  /// Reports a state; a service manager that doesn't listen is ignored.
  public func report(_ state: State) {
    switch state {
    case .starting(let time): send("EXTEND_TIMEOUT_USEC=\(Self.microseconds(time))")
    case .ready: send("READY=1")
    case .reloading:
      send("RELOADING=1\nMONOTONIC_USEC=\(SystemClock.nanoseconds() / 1_000)")
    case .stopping(let time):
      send("STOPPING=1\nEXTEND_TIMEOUT_USEC=\(Self.microseconds(time))")
    case .alive: send("WATCHDOG=1")
    }
  }

  /// Reports that the process is still starting, until the task is canceled.
  ///
  /// - Parameter time: For how long each report counts.
  public func keepStarting(for time: Duration = .seconds(120)) async {
    while !Task.isCancelled {
      report(.starting(within: time))
      try? await Task.sleep(for: time / 4)
    }
  }

  private static func microseconds(_ time: Duration) -> Int64 {
    time.components.seconds * 1_000_000 + time.components.attoseconds / 1_000_000_000_000
  }

  /// Reports twice per watchdog interval that the process hasn't hung, until the task is canceled.
  public func keepAlive() async {
    guard let watchdog else { return }
    repeat { report(.alive) } while (try? await Task.sleep(for: watchdog / 2)) != nil
  }

  private static let longestName = MemoryLayout.size(ofValue: sockaddr_un().sun_path)

  private func send(_ text: String) {
    let kind = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    let descriptor = socket(AF_UNIX, kind, 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: socketName) }
    let header = MemoryLayout<sockaddr_un>.size - Self.longestName
    let size = socklen_t(header + socketName.count)
    let bytes = Array(text.utf8)
    unsafe withUnsafePointer(to: &address) { address in
      unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        _ = unsafe sendto(
          descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), address, size)
      }
    }
  }
}
