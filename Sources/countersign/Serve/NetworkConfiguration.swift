import Foundation
import HTTPServer
import Identity
import IdentityToolkitAPI
import Localization
import Network

struct NetworkConfiguration: Sendable {
  /// How long a request can take: all that it waits for ends earlier, such as a statement.
  static let longestRequest = Limits().handlerDeadline

  private(set) var trustedProxies: [AddressRange] = []
  private(set) var emulatorOrigins = EmulatorOrigins()
  private var connections: Int?
  private var connectionsPerNetwork: Int?
  private var headers: Int?
  private(set) var poolRequests: PoolRequestLimit?

  static let options = [
    Option(
      "trusted-proxy", "ADDR", isList: true,
      help: Message(
        """
        Proxies whose X-Forwarded-For, X-Forwarded-Proto, and X-Request-ID headers are trusted: \
        addresses or networks such as 10.0.0.0/8, separated by commas.
        """)),
    Option(
      "max-connections", "N",
      help: Message(
        """
        Maximum concurrent connections (default: {number}). Above it, the oldest connection \
        without a complete request is closed, from the network with the most.
        """,
        ["number": .text("\(Limits().connections)")])),
    Option(
      "max-connections-per-network", "N",
      help: Message(
        """
        Maximum concurrent connections from one IPv4 address or IPv6 /64 (default: {number}). \
        Trusted proxies are exempt.
        """,
        ["number": .text("\(Limits().connectionsPerNetwork)")])),
    Option(
      "max-requests-per-pool", "N",
      help: Message(
        """
        Maximum API requests per second for each project and each tenant, with bursts of two \
        seconds (default: no limit).
        """)),
    Option(
      "max-header-bytes", "N",
      help: Message(
        """
        Maximum size of a request line and headers, 4096 to 65536 bytes (default: {number}). Each \
        connection uses twice as much memory.
        """, ["number": .text("\(Limits().headers)")])),
    Option(
      "emulator-origin", "ORIGIN", isList: true,
      help: Message(
        """
        Emulator: origins of web pages allowed to call it, in addition to this machine's, \
        separated by commas; null is a valid origin.
        """)),
  ]

  init(_ arguments: Arguments, profile: Profile, problems: inout ConfigurationProblems) {
    for (text, place) in Self.list("trusted-proxy", arguments, &problems) {
      if let range = AddressRange(text) {
        trustedProxies.append(range)
      } else {
        problems.append(
          Message(
            "--trusted-proxy must be an address or a network such as 10.0.0.0/8, not {text}.",
            ["text": .text(text)]), at: place)
      }
    }
    connections = problems.number("max-connections", in: 1...1_000_000)
    connectionsPerNetwork = problems.number("max-connections-per-network", in: 1...1_000_000)
    let perSecond = problems.number("max-requests-per-pool", in: 1...1_000_000)
    poolRequests = perSecond.map { PoolRequestLimit(perSecond: $0) }
    headers = problems.number("max-header-bytes", in: 4096...65536)
    let origins = Self.list("emulator-origin", arguments, &problems)
    if !origins.isEmpty, profile != .emulator {
      problems.append(
        Message("--emulator-origin requires the emulator profile."), of: "emulator-origin")
    }
    for (text, place) in origins where !EmulatorOrigins.isOrigin(text) {
      problems.append(
        Message(
          """
          --emulator-origin must be an origin without a path, such as http://192.168.0.7:3000, or \
          null, not {text}.
          """, ["text": .text(text)]), at: place)
    }
    emulatorOrigins = EmulatorOrigins(origins.map(\.text))
  }

  func apply(to limits: inout Limits) {
    if let connections { limits.connections = connections }
    if let connectionsPerNetwork { limits.connectionsPerNetwork = connectionsPerNetwork }
    if let headers {
      limits.headers = headers
      limits.target = headers
    }
  }

  static func warning(wanted: Int, allowed: Int) -> Message? {
    guard allowed < wanted else { return nil }
    return Message(
      """
      The open file limit (ulimit -n) allows {allowed} concurrent connections, fewer than \
      --max-connections ({wanted}). Raise it, for example with LimitNOFILE={files} in the systemd \
      unit.
      """,
      [
        "allowed": .text("\(allowed)"), "wanted": .text("\(wanted)"),
        "files": .text("\(openFiles(connections: wanted))"),
      ])
  }

  /// Returns the open file limit to set for a number of connections, by default that of the server.
  static func openFiles(connections: Int?) -> Int { (connections ?? Limits().connections) + 1024 }

  private static func list(
    _ name: String, _ arguments: Arguments, _ problems: inout ConfigurationProblems
  ) -> [(text: String, place: String?)] {
    guard arguments.has(name) else { return [] }
    let texts = arguments.all(name).map {
      (text: $0.text.trimmingCharacters(in: .whitespaces), place: $0.place)
    }
    if texts.isEmpty {
      problems.append(Message("--{name} is empty.", ["name": .text(name)]), of: name)
    }
    return texts
  }
}
