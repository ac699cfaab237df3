import Foundation
import HTTPServer
import Identity
import IdentityToolkitAPI

/// Whom the server listens to, and how many at once.
struct NetworkConfiguration: Sendable {
  private(set) var trustedProxies: [AddressRange] = []
  private(set) var emulatorOrigins = EmulatorOrigins()
  private var connections: Int?
  private var connectionsPerNetwork: Int?
  private var headers: Int?

  static let options = [
    Option(
      "trusted-proxy", "ADDR",
      help: "Proxies whose X-Forwarded-For and X-Forwarded-Proto are believed: addresses, or "
        + "networks such as 10.0.0.0/8, several with commas."),
    Option(
      "max-connections", "N",
      help: "The most connections at once; \(Limits().connections) when left out. Beyond, the one "
        + "that has been idle longest is closed."),
    Option(
      "max-connections-per-network", "N",
      help: "The most of them from one IPv4 address or one /64 of IPv6; "
        + "\(Limits().connectionsPerNetwork) when left out. Trusted proxies don't count."),
    Option(
      "max-header-bytes", "N",
      help: "The most bytes of a request's line and header, 4096 to 65536; "
        + "\(Limits().headers) when left out. Each connection takes twice as much memory."),
    Option(
      "emulator-origin", "ORIGIN",
      help: "Emulator: origins of web pages that may call it, beside those of this machine, "
        + "several with commas; null is one."),
  ]

  init(_ arguments: Arguments, profile: Profile, problems: inout [String]) {
    for text in Self.list("trusted-proxy", arguments, &problems) {
      if let range = AddressRange(text) {
        trustedProxies.append(range)
      } else {
        problems.append(
          "--trusted-proxy wants an address or a network such as 10.0.0.0/8, not \(text).")
      }
    }
    connections = Self.number("max-connections", 1...1_000_000, arguments, &problems)
    connectionsPerNetwork = Self.number(
      "max-connections-per-network", 1...1_000_000, arguments, &problems)
    headers = Self.number("max-header-bytes", 4096...65536, arguments, &problems)
    let origins = Self.list("emulator-origin", arguments, &problems)
    if !origins.isEmpty, profile != .emulator {
      problems.append("--emulator-origin belongs to the emulator profile.")
    }
    for text in origins where !EmulatorOrigins.isOrigin(text) {
      problems.append(
        "--emulator-origin wants an origin such as http://192.168.0.7:3000, without a path, or "
          + "null, not \(text).")
    }
    emulatorOrigins = EmulatorOrigins(origins)
  }

  /// Puts what was said in the place of what holds otherwise.
  func apply(to limits: inout Limits) {
    if let connections { limits.connections = connections }
    if let connectionsPerNetwork { limits.connectionsPerNetwork = connectionsPerNetwork }
    if let headers {
      limits.headers = headers
      limits.target = headers
    }
  }

  /// What the operator should know of the connections that the system allows; nil for nothing.
  static func warning(wanted: Int, allowed: Int) -> String? {
    guard allowed < wanted else { return nil }
    return "The limit of open files (ulimit -n) allows \(allowed) connections at once, not the "
      + "\(wanted) of --max-connections. Raise it, for example with LimitNOFILE=\(wanted + 1024) in "
      + "the unit of systemd."
  }

  /// The values of an option that may be given several times, or with commas.
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
        "--\(name) wants a number from \(range.lowerBound) to \(range.upperBound), not \(text).")
      return nil
    }
    return number
  }
}
