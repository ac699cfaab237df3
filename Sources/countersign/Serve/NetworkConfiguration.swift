import Foundation
import HTTPServer
import Identity
import IdentityToolkitAPI
import Localization
import Network

struct NetworkConfiguration: Sendable {
  private(set) var trustedProxies: [AddressRange] = []
  private(set) var emulatorOrigins = EmulatorOrigins()
  private var connections: Int?
  private var connectionsPerNetwork: Int?
  private var headers: Int?
  private(set) var poolRequests: PoolRequestLimit?

  static let options = [
    Option(
      "trusted-proxy", "ADDR", isList: true,
      help: Message("cli.help-proxies-whose-x-forwarded-for-and")),
    Option(
      "max-connections", "N",
      help: Message(
        "cli.help-maximum-concurrent-connections-default",
        ["number": .text("\(Limits().connections)")])),
    Option(
      "max-connections-per-network", "N",
      help: Message(
        "cli.help-maximum-concurrent-connections-from-one",
        ["number": .text("\(Limits().connectionsPerNetwork)")])),
    Option(
      "max-requests-per-pool", "N", help: Message("cli.help-maximum-requests-per-pool")),
    Option(
      "max-header-bytes", "N",
      help: Message(
        "cli.help-maximum-size-of-a-request-line", ["number": .text("\(Limits().headers)")])),
    Option(
      "emulator-origin", "ORIGIN", isList: true,
      help: Message("cli.help-emulator-origins-of-web-pages-allowed")),
  ]

  init(_ arguments: Arguments, profile: Profile, problems: inout ConfigurationProblems) {
    for (text, place) in Self.list("trusted-proxy", arguments, &problems) {
      if let range = AddressRange(text) {
        trustedProxies.append(range)
      } else {
        problems.append(
          Message("cli.trusted-proxy-must-be-an-address", ["text": .text(text)]), at: place)
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
        Message("cli.emulator-origin-requires-the-emulator"), of: "emulator-origin")
    }
    for (text, place) in origins where !EmulatorOrigins.isOrigin(text) {
      problems.append(
        Message("cli.emulator-origin-must-be-an-origin", ["text": .text(text)]), at: place)
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
      "cli.the-open-file-limit-ulimit-n",
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
      problems.append(Message("cli.option-is-empty", ["name": .text(name)]), of: name)
    }
    return texts
  }
}
