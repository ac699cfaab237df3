import Foundation
import HTTPServer
import Identity
import IdentityToolkitAPI

/// Trusted proxies, allowed origins, and connection limits.
struct NetworkConfiguration: Sendable {
  private(set) var trustedProxies: [AddressRange] = []
  private(set) var emulatorOrigins = EmulatorOrigins()
  private var connections: Int?
  private var connectionsPerNetwork: Int?
  private var headers: Int?

  static let options = [
    Option(
      "trusted-proxy", "ADDR",
      help: "Proxies whose X-Forwarded-For and X-Forwarded-Proto headers are trusted: addresses "
        + "or networks such as 10.0.0.0/8, separated by commas."),
    Option(
      "max-connections", "N",
      help: "Maximum concurrent connections (default: \(Limits().connections)). Above it, the "
        + "connection that has been idle the longest is closed."),
    Option(
      "max-connections-per-network", "N",
      help: "Maximum concurrent connections from one IPv4 address or IPv6 /64 (default: "
        + "\(Limits().connectionsPerNetwork)). Trusted proxies are exempt."),
    Option(
      "max-header-bytes", "N",
      help: "Maximum size of a request line and headers, 4096 to 65536 bytes (default: "
        + "\(Limits().headers)). Each connection uses twice as much memory."),
    Option(
      "emulator-origin", "ORIGIN",
      help: "Emulator: origins of web pages allowed to call it, in addition to this machine's, "
        + "separated by commas; null is a valid origin."),
  ]

  init(_ arguments: Arguments, profile: Profile, problems: inout [String]) {
    for text in Self.list("trusted-proxy", arguments, &problems) {
      if let range = AddressRange(text) {
        trustedProxies.append(range)
      } else {
        problems.append(
          "--trusted-proxy must be an address or a network such as 10.0.0.0/8, not \(text).")
      }
    }
    connections = Self.number("max-connections", 1...1_000_000, arguments, &problems)
    connectionsPerNetwork = Self.number(
      "max-connections-per-network", 1...1_000_000, arguments, &problems)
    headers = Self.number("max-header-bytes", 4096...65536, arguments, &problems)
    let origins = Self.list("emulator-origin", arguments, &problems)
    if !origins.isEmpty, profile != .emulator {
      problems.append("--emulator-origin requires the emulator profile.")
    }
    for text in origins where !EmulatorOrigins.isOrigin(text) {
      problems.append(
        "--emulator-origin must be an origin without a path, such as http://192.168.0.7:3000, or "
          + "null, not \(text).")
    }
    emulatorOrigins = EmulatorOrigins(origins)
  }

  /// Overrides default limits with the configured ones.
  func apply(to limits: inout Limits) {
    if let connections { limits.connections = connections }
    if let connectionsPerNetwork { limits.connectionsPerNetwork = connectionsPerNetwork }
    if let headers {
      limits.headers = headers
      limits.target = headers
    }
  }

  /// Returns a warning when the system allows fewer connections than configured; nil otherwise.
  static func warning(wanted: Int, allowed: Int) -> String? {
    guard allowed < wanted else { return nil }
    return "The open file limit (ulimit -n) allows \(allowed) concurrent connections, fewer than "
      + "--max-connections (\(wanted)). Raise it, for example with LimitNOFILE=\(wanted + 1024) in "
      + "the systemd unit."
  }

  /// Returns the values of an option that can be repeated or contain commas.
  private static func list(
    _ name: String, _ arguments: Arguments, _ problems: inout [String]
  ) -> [String] {
    guard arguments.has(name) else { return [] }
    let texts = arguments.all(name).map { $0.trimmingCharacters(in: .whitespaces) }
    if texts.isEmpty { problems.append("--\(name) is empty.") }
    return texts
  }

  private static func number(
    _ name: String, _ range: ClosedRange<Int>, _ arguments: Arguments, _ problems: inout [String]
  ) -> Int? {
    guard let text = arguments.value(name) else { return nil }
    guard let number = Int(text), range.contains(number) else {
      problems.append(
        "--\(name) must be a number from \(range.lowerBound) to \(range.upperBound), not \(text).")
      return nil
    }
    return number
  }
}
